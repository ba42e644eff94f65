"""How much one call computes and moves, told from its shapes."""

from __future__ import annotations

import math
from math import prod
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry

from tasks.gpu import Arithmetic
from tasks.graph.kinds import GATHERS, MATRIX_VECTOR, MOVES, SCATTERS, WRITE_ONLY, kind_of, name_of
from tasks.graph.model import Kind
from tasks.graph.steps import Work
from tasks.tensors import distinct_bytes, tensors_in

_ARITHMETIC: dict[torch.dtype, Arithmetic] = {
    torch.bfloat16: "bf16", torch.float16: "fp16", torch.float64: "fp64", torch.int8: "int8",
    torch.uint8: "int8", torch.float8_e4m3fn: "fp8", torch.float8_e5m2: "fp8",
    torch.float4_e2m1fn_x2: "nvfp4", torch.complex128: "fp64",
}  # fmt: skip
_OPERATIONS_PER_ELEMENT = {
    "_softmax": 5, "_log_softmax": 5, "_safe_softmax": 5, "native_layer_norm": 8, "native_group_norm": 8,
    "rms_norm": 5, "_fused_rms_norm": 5, "_softmax_backward_data": 4, "native_layer_norm_backward": 14,
    "logsumexp": 4, "gelu": 8, "silu": 4, "sigmoid": 4, "softplus": 4, "gelu_backward": 14, "silu_backward": 8,
    "addcmul": 2, "lerp": 3, "var_mean": 4, "var": 4, "std": 4, "native_batch_norm": 6,
    "_fused_rms_norm_backward": 10, "native_group_norm_backward": 14, "mish": 6,
}  # fmt: skip
"""Steps for an element where it is more than one: exp, division and root count as one each."""


def work_of(function: Any, args: Any, kwargs: Any, out: Any, mutated: torch.Tensor | None) -> Work:
    """The work of a call that has been made on tensors without memory; `mutated` is written in place."""
    name = name_of(function)
    operands = list(tensors_in((args, kwargs)))
    flops = _matrix_work(function, name, args, kwargs, out, operands)
    kind = kind_of(function, name, is_matrix=bool(flops))
    if kind == "view":
        return Work(kind="view", reads=(0,) * len(operands))
    reads, written = _traffic(name, kind, operands, out, mutated)
    return Work(
        kind=kind,
        flops=flops,
        vector=0 if kind == "matmul" else _vector_operations(name, kind, args, operands, out, mutated),
        reads=reads,
        written=written,
        opaque=kind == "opaque",
    )


def matrix_arithmetic(dtype: torch.dtype) -> Arithmetic:
    """The format that the matrix units multiply operands of `dtype` in, under the settings of this moment."""
    if dtype == torch.float32 and torch.get_float32_matmul_precision() != "highest":
        return "tf32"
    return _ARITHMETIC.get(dtype, "fp32")


def _matrix_work(
    function: Any, name: str, args: Any, kwargs: Any, out: Any, operands: list[torch.Tensor]
) -> dict[Arithmetic, int]:
    packet = getattr(function, "_overloadpacket", None)
    if name == "scaled_dot_product_attention":
        query, key, value = operands[:3]
        flops = 2 * prod(query.shape[:-1]) * key.shape[-2] * (query.shape[-1] + value.shape[-1])
    elif name in MATRIX_VECTOR:
        flops = 2 * max(prod(t.shape) for t in operands)
    elif name in ("_grouped_mm", "_scaled_grouped_mm", "_int_mm", "_scaled_grouped_mm_v2"):
        flops = _grouped(operands[0], operands[1], out)
    elif packet in flop_registry:
        flops = int(flop_registry[packet](*args, **kwargs, out_val=out))
    else:
        return {}
    factor = (
        operands[1] if name in ("addmm", "baddbmm", "addmv", "addbmm", "addmm_", "baddbmm_") else operands[0]
    )
    arithmetic = matrix_arithmetic(factor.dtype)
    if factor.dtype.is_complex:
        flops *= 4
    return {arithmetic: flops * 2 if arithmetic == "nvfp4" else flops}  # a packed byte holds two along k


def _grouped(left: torch.Tensor, right: torch.Tensor, out: Any) -> int:
    """Rows are split among the groups, so every row meets one matrix."""
    depth, width = right.shape[-2:]
    if left.dim() == 2 and right.dim() == 2:  # the depth is split
        return 2 * left.shape[0] * left.shape[1] * width
    return 2 * prod(left.shape[:-1]) * depth * width


def _traffic(
    name: str, kind: Kind, operands: list[torch.Tensor], out: Any, mutated: torch.Tensor | None
) -> tuple[tuple[int, ...], int]:
    """Bytes read of each operand, and bytes written."""
    reads = (
        _once_each(operands, alike=name in ("cat", "stack")) if kind != "make" else [0] * len(operands)
    )  # `zeros_like` asks for a shape
    results = [t for t in tensors_in(out) if t is not mutated]
    written = sum(distinct_bytes(t) for t in results)
    if mutated is not None:
        written += distinct_bytes(mutated)
        if name in WRITE_ONLY and operands and operands[0] is mutated:
            reads[0] = 0
    if name in GATHERS and operands:
        table = 1 if name == "embedding" and not operands[0].is_floating_point() else 0
        reads[table] = min(reads[table], written)
    elif name in SCATTERS and len(operands) > 1 and kind == "scatter":
        written = _scattered(name, operands, reads, written, mutated)
    return tuple(reads), written


def _once_each(operands: list[torch.Tensor], *, alike: bool) -> list[int]:
    """Distinct bytes of each operand, 0 for the same view seen before in this call.

    With `alike` each counts: items of a list that one stands for where a loop was run in part.
    """
    reads, seen = [], set()
    for tensor in operands:
        key = (tensor.untyped_storage()._cdata, tensor.storage_offset(), tensor.shape, tensor.stride())
        reads.append(0 if key in seen and not alike else distinct_bytes(tensor))
        seen.add(key)
    return reads


def _scattered(
    name: str, operands: list[torch.Tensor], reads: list[int], written: int, mutated: torch.Tensor | None
) -> int:
    """In place only the named elements are written, and read where they are added to."""
    if mutated is None:
        return written
    masked = any(t.dtype == torch.bool for t in operands[1:])
    values = reads[0] if masked else _indexed_bytes(operands)
    adds = "add" in name or "reduce" in name
    reads[0] = min(reads[0], values) if adds else 0
    return min(written, values)


def _indexed_bytes(operands: list[torch.Tensor]) -> int:
    """Bytes of the elements of the first operand that the indices name."""
    target, size = operands[0], operands[0].element_size()
    values = max((prod(t.shape) for t in operands[1:] if t.dtype == target.dtype), default=0)
    indices = [t for t in operands[1:] if not t.is_floating_point()]
    counted = max((prod(t.shape) for t in indices), default=0)
    return max(values, counted) * size


def _vector_operations(
    name: str, kind: Kind, args: Any, operands: list[torch.Tensor], out: Any, mutated: torch.Tensor | None
) -> int:
    results = list(tensors_in(out)) or ([mutated] if mutated is not None else [])
    made = max((prod(t.shape) for t in results), default=0)
    read = max((prod(t.shape) for t in operands), default=0)
    if kind in ("make", "gather", "scatter") or (name in MOVES and name not in ("where", "masked_fill")):
        return made if name in SCATTERS and "add" in name else 0
    if kind == "attention":
        scores = prod(operands[0].shape[:-1]) * operands[1].shape[-2] if len(operands) > 1 else 0
        return 6 * scores
    if kind == "sort":
        width = operands[0].shape[-1] if operands and operands[0].dim() else 1
        return read * max(1, math.ceil(math.log2(max(width, 2)))) if "sort" in name else read
    if name.startswith("_fft"):
        return 5 * read * max(1, math.ceil(math.log2(max(read, 2))))
    each = _OPERATIONS_PER_ELEMENT.get(name.removesuffix("_"), 1)
    return each * (max(read, made) if kind in ("rows", "scan") else made)
