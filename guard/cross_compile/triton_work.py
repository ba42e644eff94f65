"""What one launch of a Triton kernel moves and computes, counted from its TTIR, its scalars and its grid.

Loops run as often as their bounds say for a few sampled blocks; a bound that depends on loaded values is not
known, is taken as one pass, and is counted in `unknown_loops`. An argument is read or written at most once
from device memory (the caches hold the rest), so masks and re-reads do not inflate the traffic.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil

from guard.cross_compile.ttir import Kernel, Operation, tensor_types
from guard.cross_compile.ttir_scalars import constant, evaluate
from tasks.gpu import Arithmetic

SAMPLES = 16
"""Blocks that are walked; enough for the mean of bounds linear in the block's index (causal masks)."""
_SLOW = 8
"""Operations that a division, root or exponential counts for."""


@dataclass
class Counts:
    """Of one block, as sums over its loops."""

    flops: dict[Arithmetic, float] = field(default_factory=dict)
    vector: float = 0.0
    loads: dict[str, float] = field(default_factory=dict)
    """Bytes by parameter."""
    stores: dict[str, float] = field(default_factory=dict)
    reduces: bool = False
    unknown_loops: int = 0
    largest_pass: float = 0.0
    """Most bytes loaded and stored in one pass of a loop body, or outside loops."""


Scalars = dict[str, int | None]
_LOADS = {"tt.load", "tt.descriptor_load", "tt.descriptor_gather", "tt.atomic_rmw", "tt.atomic_cas"}
_STORES = {
    "tt.store", "tt.descriptor_store", "tt.descriptor_reduce", "tt.descriptor_scatter", "tt.atomic_rmw",
    "tt.atomic_cas",
}  # fmt: skip
_AXES = {"x": 0, "y": 1, "z": 2}


def count(kernel: Kernel, scalars: dict[str, int], grid: tuple[int, int, int]) -> Counts:
    """Counts of the whole grid: the mean over sampled blocks times the number of blocks.

    `scalars` gives the integer parameters by their TTIR names.
    """
    blocks = grid[0] * grid[1] * grid[2]
    samples = _sampled_blocks(grid)
    total = Counts()
    for block in samples:
        walk = _Walk(kernel, grid, block)
        walk.region(kernel.body, dict(scalars), blocks / len(samples))
        _add(total, walk.counts)
    total.unknown_loops //= max(len(samples), 1)
    return total


def _sampled_blocks(grid: tuple[int, int, int]) -> list[tuple[int, int, int]]:
    """Blocks spread evenly over every axis, each axis in another order, so that they do not line up."""
    blocks = grid[0] * grid[1] * grid[2]
    if blocks <= SAMPLES:
        return [(b % grid[0], b // grid[0] % grid[1], b // (grid[0] * grid[1])) for b in range(blocks)] or [
            (0, 0, 0)
        ]
    strides = (1, 7, 11)  # odd, so that each axis meets all of its sixteen places
    x, y, z = (
        [int((strides[axis] * i % SAMPLES + 0.5) / SAMPLES * size) for i in range(SAMPLES)]
        for axis, size in enumerate(grid)
    )
    return list(zip(x, y, z, strict=True))


class _Walk:
    """One block's way through the kernel."""

    def __init__(self, kernel: Kernel, grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
        self.grid, self.block, self.counts = grid, block, Counts()
        self.roots = {name: name for name, kind in kernel.parameters if kind.startswith("!tt.")}

    def region(self, operations: list[Operation], scalars: Scalars, times: float) -> None:
        before = self._moved()
        for operation in operations:
            self._operation(operation, scalars, times)
        if times > 0 and not any(o.name == "scf.for" for o in operations):
            self.counts.largest_pass = max(self.counts.largest_pass, (self._moved() - before) / times)

    def _moved(self) -> float:
        return sum(self.counts.loads.values()) + sum(self.counts.stores.values())

    def _operation(self, operation: Operation, scalars: Scalars, times: float) -> None:
        name = operation.name
        if name in _CONTROL:
            _CONTROL[name](self, operation, scalars, times)
        elif name in ("tt.dot", "tt.dot_scaled"):
            self._dot(operation, times)
        elif name in _LOADS or name in _STORES:
            if name in _LOADS:
                self._move(operation, self.counts.loads, times)
            if name in _STORES:
                self._move(operation, self.counts.stores, times)
        else:
            self._compute(operation, scalars, times)

    def _while(self, operation: Operation, scalars: Scalars, times: float) -> None:
        self.counts.unknown_loops += 1
        for region in operation.regions:
            self.region(region, dict(scalars), times)

    def _loop(self, operation: Operation, scalars: Scalars, times: float) -> None:
        # scf.for %i = %low to %high step %step iter_args(%a = %b, ...) -> ...
        index, low, high, step = operation.operands[:4]
        carried = operation.text.partition("iter_args(")[2].partition(")")[0]
        for name, start in re.findall(r"(%[\w$.-]+) = (%[\w$.#-]+)", carried):
            if start in self.roots:
                self.roots[name] = self.roots[start]
        bounds = [scalars.get(name) for name in (low, high, step)]
        inner, passes = dict(scalars), 1
        if any(bound is None for bound in bounds) or not bounds[2]:
            self.counts.unknown_loops += 1
        else:
            first, last, stride = (int(bound or 0) for bound in bounds)
            passes = max(0, ceil((last - first) / stride))
            inner[index] = first + stride * (passes // 2)
        self.region(operation.regions[0], inner, times * passes)

    def _branch(self, operation: Operation, scalars: Scalars, times: float) -> None:
        condition = scalars.get(operation.operands[0])
        if condition is not None:
            taken = operation.regions[:1] if condition else operation.regions[1:2]
            shares = [(region, 1.0) for region in taken]
        else:
            shares = [(region, 1.0 / len(operation.regions)) for region in operation.regions]
        for region, share in shares:
            self.region(region, dict(scalars), times * share)

    def _dot(self, operation: Operation, times: float) -> None:
        left, *_, out = tensor_types(operation.types)
        depth = left.shape[-1]
        arithmetic, passes = _arithmetic(operation, left.element)
        if operation.name == "tt.dot_scaled" and "lhs = e2m1" in operation.text:
            depth *= 2  # two values in a byte
        flops = 2.0 * out.elements * depth * passes * times
        self.counts.flops[arithmetic] = self.counts.flops.get(arithmetic, 0.0) + flops

    def _move(self, operation: Operation, into: dict[str, float], times: float) -> None:
        tensors = tensor_types(operation.types)
        moved = max((t.bytes for t in tensors[:1] + tensors[-1:]), default=4)
        root = self.roots.get(operation.operands[0], "")
        into[root] = into.get(root, 0.0) + moved * times

    def _compute(self, operation: Operation, scalars: Scalars, times: float) -> None:
        name, operands, result = operation.name, operation.operands, operation.result
        if result is None:
            return
        root = next((self.roots[o] for o in operands if o in self.roots), None)
        if root is not None and (name == "tt.make_tensor_descriptor" or "!tt." in operation.text):
            self.roots[result] = root
            return
        tensors = tensor_types(operation.types)
        if tensors:
            self._vector(name, max(t.elements for t in tensors), times)
        else:
            scalars[result] = self._scalar(operation, [scalars.get(o) for o in operands])

    def _vector(self, name: str, elements: int, times: float) -> None:
        if name in ("tt.reduce", "tt.scan"):
            self.counts.reduces = True
            self.counts.vector += elements * times
        elif name.startswith("math.") or name == "arith.divf":
            self.counts.vector += _SLOW * elements * times
        elif name.startswith("arith.") and name.endswith("f"):
            self.counts.vector += elements * times

    def _scalar(self, operation: Operation, values: list[int | None]) -> int | None:
        name, text = operation.name, operation.text
        if name == "arith.constant":
            return constant(text)
        if name in ("tt.get_program_id", "tt.get_num_programs"):
            axis = _AXES[text.split()[1]]
            return self.block[axis] if name.endswith("id") else self.grid[axis]
        known = [value for value in values if value is not None]
        if len(known) != len(values) or not known:
            return None
        return evaluate(name, text, known)


_CONTROL: dict[str, Callable[[_Walk, Operation, Scalars, float], None]] = {
    "scf.for": _Walk._loop, "scf.while": _Walk._while, "scf.if": _Walk._branch,
}  # fmt: skip


def _arithmetic(operation: Operation, element: str) -> tuple[Arithmetic, int]:
    """The matrix units' format, and how often they pass over the operands."""
    if operation.name == "tt.dot_scaled":
        fp4 = "lhs = e2m1" in operation.text and "rhs = e2m1" in operation.text
        return ("nvfp4", 1) if fp4 else ("fp8", 1)
    if element.startswith("f8"):
        return "fp8", 1
    by_element: dict[str, Arithmetic] = {"bf16": "bf16", "f16": "fp16", "i8": "int8", "f64": "fp64"}
    if element in by_element:
        return by_element[element], 1
    precision = operation.text.partition("inputPrecision = ")[2].split(" ")[0]
    by_precision: dict[str, tuple[Arithmetic, int]] = {
        "tf32": ("tf32", 1), "tf32x3": ("tf32", 3), "bf16x3": ("bf16", 3), "bf16x6": ("bf16", 6),
    }  # fmt: skip
    return by_precision.get(precision, ("fp32", 1))


def _add(total: Counts, other: Counts) -> None:
    for mine, theirs in ((total.loads, other.loads), (total.stores, other.stores)):
        for name, amount in theirs.items():
            mine[name] = mine.get(name, 0.0) + amount
    for arithmetic, amount in other.flops.items():
        total.flops[arithmetic] = total.flops.get(arithmetic, 0.0) + amount
    total.vector += other.vector
    total.reduces |= other.reduces
    total.unknown_loops += other.unknown_loops
    total.largest_pass = max(total.largest_pass, other.largest_pass)
