"""L1 tasks, computed otherwise."""

from functools import partial

import torch
from torch import Tensor

from scripts.alternatives.arithmetic import (
    Product,
    Rounding,
    exact,
    half_of_k,
    in_fp8,
    kept,
    split_in_bf16,
    to_bf16,
    to_fp8,
)
from scripts.alternatives.case import Case, Outputs, zeros_like_outputs


def gemm(activations: Tensor, weight: Tensor, *, product: Product = exact) -> Outputs:
    return (product(activations, weight).bfloat16(),)


def projection(
    heads: Tensor,
    stream: Tensor,
    mix_weight: Tensor,
    *,
    product: Product = exact,
    keep_stream: float = 1.0,
    keep_heads: float = 1.0,
) -> Outputs:
    return ((keep_stream * stream.float() + keep_heads * product(heads, mix_weight)).bfloat16(),)


def rmsnorm(
    rows: Tensor,
    gain: Tensor,
    eps: float,
    *,
    between: Rounding = kept,
    with_gain: bool = True,
    part: int = 1,
) -> Outputs:
    """`between` rounds the normalised row before the gain; the mean square is of the first 1/part of a row."""
    wide = rows.double()
    mean = wide[:, : wide.shape[1] // part].pow(2).mean(dim=1, keepdim=True)
    normed = between((wide / (mean + eps).sqrt()).float())
    return ((normed * gain.float() if with_gain else normed).bfloat16(),)


def rope(
    queries: Tensor,
    keys: Tensor,
    cos_sin_table: Tensor,
    positions: Tensor,
    *,
    table: Rounding = kept,
    shift: int = 0,
    interleaved: bool = False,
) -> Outputs:
    """As multiplication of complex numbers."""
    half = cos_sin_table.shape[1] // 2
    entries = table(cos_sin_table)[(positions + shift) % cos_sin_table.shape[0]]
    turn = torch.complex(entries[:, :half].contiguous(), entries[:, half:].contiguous())[:, None]

    def turned(heads: Tensor) -> Tensor:
        wide = heads.float()
        pairs = wide.unflatten(-1, (half, 2)) if interleaved else wide.unflatten(-1, (2, half)).mT
        result = torch.view_as_real(torch.view_as_complex(pairs.contiguous()) * turn)
        return (result if interleaved else result.mT).flatten(-2).bfloat16()

    return turned(queries), turned(keys)


def swiglu(gate_and_up: Tensor, *, between: Rounding = kept, form: str = "silu") -> Outputs:
    width = gate_and_up.shape[1] // 2
    gate, up = gate_and_up[:, :width].double(), gate_and_up[:, width:].double()
    active = {
        "silu": lambda: gate / (1.0 + torch.exp(-gate)),
        "relu": lambda: gate.clamp(min=0.0),
        "gelu": lambda: torch.nn.functional.gelu(gate),
        "no gate": lambda: torch.ones_like(gate),
    }[form]()
    return ((between(active.float()) * up.float()).bfloat16(),)


_PRODUCTS = {"fp32": exact, "split-K in bf16": split_in_bf16}

L1 = {
    "l1_bf16_gemm": Case(
        small={"M": 24, "N": 96, "K": 512},
        measured=({"M": 64, "N": 1024, "K": 2048}, {"M": 16, "N": 1024, "K": 8192}),
        honest={name: partial(gemm, product=p) for name, p in _PRODUCTS.items()},
        wrong={
            "zeros": zeros_like_outputs(gemm),
            "fp8 operands": partial(gemm, product=in_fp8),
            "half of K": partial(gemm, product=half_of_k),
        },
    ),
    "l1_attention_projection_residual": Case(
        small={"batch_size": 2, "seq_len": 5},
        measured=({"batch_size": 1, "seq_len": 64},),
        honest={name: partial(projection, product=p) for name, p in _PRODUCTS.items()},
        wrong={
            "zeros": zeros_like_outputs(projection),
            "stream alone": partial(projection, keep_heads=0.0),
            "no residual": partial(projection, keep_stream=0.0),
            "fp8 operands": partial(projection, product=in_fp8),
            "half of K": partial(projection, product=half_of_k),
        },
    ),
    "l1_rmsnorm": Case(
        small={"num_rows": 7, "width": 720},
        measured=({"num_rows": 64, "width": 4096}, {"num_rows": 64, "width": 2880}),
        honest={"fp32": rmsnorm, "rounded before the gain": partial(rmsnorm, between=to_bf16)},
        wrong={
            "zeros": zeros_like_outputs(rmsnorm),
            "rows as they are": lambda rows, gain, eps: (rows.clone(),),
            "no gain": partial(rmsnorm, with_gain=False),
            "mean of a quarter": partial(rmsnorm, part=4),
            "fp8 inside": partial(rmsnorm, between=to_fp8),
        },
    ),
    "l1_rope": Case(
        small={"num_tokens": 9, "num_q_heads": 4, "num_kv_heads": 2, "table_rows": 64},
        measured=({"num_tokens": 64, "num_q_heads": 32, "num_kv_heads": 8, "table_rows": 8192},),
        honest={"fp32": rope},
        wrong={
            "zeros": zeros_like_outputs(rope),
            "heads as they are": lambda q, k, table, positions: (q.clone(), k.clone()),
            "next position": partial(rope, shift=1),
            "neighbours paired": partial(rope, interleaved=True),
            "table in bf16": partial(rope, table=to_bf16),
        },
    ),
    "l1_swiglu": Case(
        small={"num_rows": 7, "width": 96},
        measured=({"num_rows": 64, "width": 4096},),
        honest={"fp32": swiglu, "rounded before up": partial(swiglu, between=to_bf16)},
        wrong={
            "zeros": zeros_like_outputs(swiglu),
            "no gate": partial(swiglu, form="no gate"),
            "relu": partial(swiglu, form="relu"),
            "gelu": partial(swiglu, form="gelu"),
            "fp8 inside": partial(swiglu, between=to_fp8),
        },
    ),
}
