"""Rotary embedding of queries and keys by a table, element i of a head paired with element i + half."""

import torch

BASE = 500000.0


def get_inputs(axes_and_scalars, device):
    tokens, table_rows = axes_and_scalars["num_tokens"], axes_and_scalars["table_rows"]
    head_dim = axes_and_scalars["head_dim"]
    half = head_dim // 2
    frequency = BASE ** (-torch.arange(half, device=device, dtype=torch.float64) / half)
    angle = torch.arange(table_rows, device=device, dtype=torch.float64)[:, None] * frequency
    table = torch.cat([angle.cos(), angle.sin()], dim=-1).float()
    # One run of consecutive positions from a random start, as a chunk of a prompt has.
    start = torch.randint(0, table_rows, (1,), device=device)
    positions = (start + torch.arange(tokens, device=device)) % table_rows
    heads = {
        "queries": (tokens, axes_and_scalars["num_q_heads"], head_dim),
        "keys": (tokens, axes_and_scalars["num_kv_heads"], head_dim),
    }
    drawn = {name: torch.randn(shape, device=device, dtype=torch.bfloat16) for name, shape in heads.items()}
    return {**drawn, "cos_sin_table": table, "positions": positions}


def rotate(heads, cos, sin):
    first, second = heads.float().chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).to(heads.dtype)


@torch.no_grad()
def run(queries, keys, cos_sin_table, positions):
    cos, sin = cos_sin_table[positions].unsqueeze(1).chunk(2, dim=-1)
    return rotate(queries, cos, sin), rotate(keys, cos, sin)
