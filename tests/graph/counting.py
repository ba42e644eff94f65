"""A second count of work and bytes, made while a reference really runs, by other code than the graph's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import FlopCounterMode

aten = torch.ops.aten
FREE = {
    aten.empty, aten.empty_like, aten.empty_strided, aten.new_empty, aten.new_empty_strided, aten.detach,
    aten._unsafe_view, aten._reshape_alias, aten.lift_fresh, aten._local_scalar_dense, aten.alias,
    aten.squeeze_, aten.unsqueeze_, aten.transpose_,
}  # fmt: skip
READS_NOTHING = {
    aten.zeros_like, aten.ones_like, aten.full_like, aten.new_zeros, aten.new_full, aten.new_ones, aten.fill_,
    aten.zero_,
}  # fmt: skip
PICKS = {aten.index, aten.index_select, aten.gather, aten.embedding}
ADDS = {aten.index_add_, aten.scatter_add_}


@dataclass
class Count:
    flops: int
    bytes: int


def counted(run: Any, inputs: list[Any]) -> tuple[Count, Any]:
    """What `run(*inputs)` does on the host, and what it returns."""
    flash = aten._scaled_dot_product_flash_attention_for_cpu
    products = {flash: _attention, aten.mv: _matrix_vector, aten.dot: _dot, aten.addmv: _added_matrix_vector}
    with FlopCounterMode(display=False, custom_mapping=products) as matrix, _Bytes() as moved:
        returned = run(*inputs)
    return Count(matrix.get_total_flops(), moved.total), returned


def _matrix_vector(matrix: Any, vector: Any, *_: Any, **__: Any) -> int:
    return 2 * int(matrix[0]) * int(matrix[1])


def _added_matrix_vector(start: Any, matrix: Any, vector: Any, *_: Any, **__: Any) -> int:
    return 2 * int(matrix[0]) * int(matrix[1])


def _attention(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    rows = int(query[0]) * int(query[1]) * int(query[2])
    return 2 * rows * int(key[2]) * (int(query[3]) + int(value[3]))


def _dot(left: Any, right: Any, *_: Any, **__: Any) -> int:
    return 2 * int(left[0])


class _Bytes(TorchDispatchMode):
    """Each call reads its distinct operands and writes its results; views and allocations are free."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        packet = func._overloadpacket
        if packet in FREE or func.is_view:
            return out
        operands = [t for t in tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor)]
        results = [t for t in tree_leaves(out) if isinstance(t, torch.Tensor)]
        self.total += _moved(func, packet, operands, results)
        return out


def _moved(func: Any, packet: Any, operands: list[torch.Tensor], results: list[torch.Tensor]) -> int:
    written = sum(_size(t) for t in results)
    different = {(t.data_ptr(), tuple(t.shape), t.stride()): t for t in operands}
    read = sum(_size(t) for t in different.values())
    if packet in READS_NOTHING:
        return written
    if packet in PICKS:
        return read - _size(operands[0]) + min(_size(operands[0]), written) + written
    if packet in ADDS or packet in (aten.index_put_, aten.scatter_):
        return _scattered(packet, operands, read)
    if packet is aten.copy_:
        return _size(operands[1]) + written
    return read + written


def _scattered(packet: Any, operands: list[torch.Tensor], read: int) -> int:
    target = operands[0]
    if any(t.dtype == torch.bool for t in operands[1:]):
        return read - _size(target) + _size(target)
    places = max(t.numel() for t in operands[1:]) * target.element_size()
    named = min(_size(target), places)
    return read - _size(target) + named * (2 if packet in ADDS else 1)


def _size(tensor: torch.Tensor) -> int:
    count = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        count *= size if stride or not size else 1
    return count * tensor.element_size()
