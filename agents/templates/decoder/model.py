"""The formula of a `Decoder` in torch, in fp64, to compare a reference with."""

from __future__ import annotations

from typing import Any

from agents.templates.decoder.form import Attention, Decoder


def layer(form: Decoder, inputs: dict[str, Any]) -> Any:
    import torch

    eps = inputs[form.eps] if isinstance(form.eps, str) else form.eps
    stream = inputs[form.stream]
    if form.attention is not None:
        stream = stream + _attended(
            form.attention, inputs, normed(stream, inputs[form.attention.gain], eps), eps
        )
    value = normed(stream, inputs[form.gain], eps)
    gated = torch.nn.functional.silu(value @ inputs[form.gate].T) * (value @ inputs[form.up].T)
    return stream + gated @ inputs[form.down].T


def normed(x: Any, gain: Any, eps: float) -> Any:
    return x * (x.square().mean(-1, keepdim=True) + eps).rsqrt() * gain


def _attended(form: Attention, inputs: dict[str, Any], x: Any, eps: float) -> Any:
    batch, seq = x.shape[:2]
    query, key, value = (
        (x @ inputs[name].T).view(batch, seq, -1, form.width).transpose(1, 2)
        for name in (form.query, form.key, form.value)
    )
    if form.query_gain is not None and form.key_gain is not None:
        query, key = normed(query, inputs[form.query_gain], eps), normed(key, inputs[form.key_gain], eps)
    query, key = _rotated(form, inputs, query), _rotated(form, inputs, key)
    key, value = (t.repeat_interleave(query.shape[1] // key.shape[1], dim=1) for t in (key, value))
    scale = inputs[form.scale] if form.scale is not None else form.width**-0.5
    scores = query @ key.transpose(-1, -2) * scale
    if form.mask is not None:
        scores = scores + inputs[form.mask]
    else:
        scores = scores + scores.new_full((seq, seq), float("-inf")).triu(1)
    return (scores.softmax(-1) @ value).transpose(1, 2).reshape(batch, seq, -1) @ inputs[form.mix].T


def _rotated(form: Attention, inputs: dict[str, Any], x: Any) -> Any:
    import torch

    half = form.width // 2
    if form.frequencies is not None:
        frequencies = inputs[form.frequencies]
    elif form.base is not None:
        frequencies = form.base ** (-torch.arange(half, dtype=x.dtype) / half)
    else:
        return x
    place = (
        torch.arange(x.shape[-2], dtype=x.dtype)[None] if form.positions is None else inputs[form.positions]
    )
    angle = (place.to(x.dtype)[..., None] * frequencies)[:, None]
    first, second = x.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
