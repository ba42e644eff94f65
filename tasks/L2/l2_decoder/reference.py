"""One pre-norm decoder layer of the Llama family: grouped-query causal attention, then a SwiGLU MLP."""

import math

import torch

HEAD_DIM = 64
ROTARY_BASE = 500000.0
EPS = 1e-5


def normalise(stream, gain):
    wide = stream.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + EPS) * gain.float()).to(stream.dtype)


def rotate(heads):
    """[batch, heads, seq, HEAD_DIM]: position p turns the pair (i, i + half) by p * base^(-i / half)."""
    half = HEAD_DIM // 2
    steps = torch.arange(half, device=heads.device, dtype=torch.float32)
    position = torch.arange(heads.shape[-2], device=heads.device, dtype=torch.float32)
    angle = torch.outer(position, ROTARY_BASE ** (-steps / half))
    first, second = heads.float().chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(heads.dtype)


def attend(query, key, value):
    """Causal softmax attention; scores and probabilities are bf16, the softmax itself fp32."""
    seq = query.shape[-2]
    group = query.shape[1] // key.shape[1]
    key, value = (t.repeat_interleave(group, dim=1) for t in (key, value))
    scores = query @ key.transpose(-1, -2) / math.sqrt(HEAD_DIM)
    future = torch.ones(seq, seq, device=query.device, dtype=torch.bool).triu(1)
    scores = scores.masked_fill(future, float("-inf"))
    return torch.softmax(scores, dim=-1, dtype=torch.float32).to(value.dtype) @ value


@torch.no_grad()
def run(
    stream,
    attention_gain,
    query_weight,
    key_weight,
    value_weight,
    mix_weight,
    mlp_gain,
    gate_weight,
    up_weight,
    down_weight,
):
    batch, seq, _ = stream.shape
    normed = normalise(stream, attention_gain)

    def heads_of(weight):
        return (normed @ weight.T).view(batch, seq, -1, HEAD_DIM).transpose(1, 2)

    attended = attend(rotate(heads_of(query_weight)), rotate(heads_of(key_weight)), heads_of(value_weight))
    stream = stream + attended.transpose(1, 2).reshape(batch, seq, -1) @ mix_weight.T

    normed = normalise(stream, mlp_gain)
    gated = torch.nn.functional.silu(normed @ gate_weight.T) * (normed @ up_weight.T)
    return stream + gated @ down_weight.T
