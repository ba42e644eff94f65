"""The formula of a `Rope` in torch, to compare a reference with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.templates.rope.form import Rope

if TYPE_CHECKING:
    import torch


def rotated_by(form: Rope, inputs: dict[str, torch.Tensor], width: int) -> list[torch.Tensor] | None:
    """Of heads of `width` elements; fp64 for fp64 inputs and else fp32. None where the sizes do not fit."""
    try:
        return [_rotated(form, inputs, inputs[x], width) for x, _ in form.rotated]
    except (RuntimeError, IndexError):
        return None


def _rotated(form: Rope, inputs: dict[str, torch.Tensor], x: torch.Tensor, width: int) -> torch.Tensor:
    import torch

    work = torch.float64 if x.dtype == torch.float64 else torch.float32
    heads = x if x.dim() == 4 else x.unsqueeze(0)
    heads = (heads.transpose(1, 2) if form.heads_first else heads).to(work)  # [batch, tokens, heads, width]
    first, second = _parts(heads, form.interleaved)
    (cos, other_cos), (sin, other_sin) = (
        tuple(part.to(work) for part in parts) for parts in _angles(form, inputs, heads, width)
    )
    if form.inverse:
        sin, other_sin = -sin, -other_sin

    def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        rounded = form.products_rounded_to
        return a * b if rounded is None else (a * b).to(getattr(torch, rounded)).to(work)

    parts = [
        product(first, cos) - product(second, sin),
        product(second, other_cos) + product(first, other_sin),
    ]
    turned = torch.stack(parts, -1).flatten(-2) if form.interleaved else torch.cat(parts, -1)
    turned = turned.transpose(1, 2) if form.heads_first else turned
    return turned if x.dim() == 4 else turned.squeeze(0)


def _parts(x: torch.Tensor, interleaved: bool) -> tuple[torch.Tensor, torch.Tensor]:
    half = x.shape[-1] // 2
    return (x[..., ::2], x[..., 1::2]) if interleaved else (x[..., :half], x[..., half:])


def _angles(
    form: Rope, inputs: dict[str, torch.Tensor], heads: torch.Tensor, width: int
) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Cosines and sines, of the first and of the second of each pair: [batch or 1, tokens, 1, half]."""
    batch, tokens = heads.shape[:2]
    rows = []
    for name in (form.cos, form.sin):
        row = inputs[name]
        if form.positions is not None:
            row = row[inputs[form.positions]]
        columns = row.shape[-1]
        if columns != (width // 2 if form.angles == "half" else width):
            raise IndexError("angles of another width")
        rows.append(row.reshape(batch if form.angles_a_token else 1, tokens, 1, columns))
    if form.angles == "table":
        cos, sin = _parts(rows[0], False)
        return [(cos, cos), (sin, sin)]
    if form.angles == "half":
        return [(rows[0], rows[0]), (rows[1], rows[1])]
    return [_parts(row, form.interleaved) for row in rows]
