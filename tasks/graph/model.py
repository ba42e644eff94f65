"""Kernel-Graph as values: what a definition does at one workload's sizes, and what could share a kernel."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal

from tasks.gpu import Arithmetic
from tasks.value import Value

CaptureKind = Literal["fake", "concrete-small", "opaque"]
"""Followed at the true sizes without memory; followed at smaller sizes and scaled; not followed at all."""
Kind = Literal[
    "view", "make", "pointwise", "rows", "matmul", "attention", "gather", "scatter", "sort", "scan", "opaque"
]
"""What kind of loop an operation is, which decides what it can share a kernel with. `view`: moves nothing.
`make`: writes without reading. `rows`: reduces or normalises along axes. `scan`: a running reduction."""

_BITS = {
    "float64": 64, "float32": 32, "float16": 16, "bfloat16": 16, "int64": 64, "int32": 32, "int16": 16,
    "uint64": 64, "uint32": 32, "uint16": 16, "complex64": 64, "complex128": 128, "complex32": 32,
}  # fmt: skip
PACKED = "float4_e2m1fn_x2"


class Tensor(Value):
    """A value that an operation makes or an input brings; `shape` as torch has it."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    """torch's name without the prefix: `bfloat16`, `float4_e2m1fn_x2`."""

    @property
    def elements(self) -> int:
        """Numbers held; a packed fp4 byte holds two."""
        return math.prod(self.shape) * (2 if self.dtype == PACKED else 1)

    @property
    def bytes(self) -> int:
        """Bytes that all elements take; a packed fp4 pair takes one."""
        return math.prod(self.shape) * _BITS.get(self.dtype, 8) // 8


class Node(Value):
    """One operation of the reference, or one iteration that stands for `times` like it."""

    name: str
    operation: str
    """`aten.mm.default`, or `opaque:<why>`."""
    kind: Kind
    inputs: tuple[str, ...]
    """Names of graph inputs and of other nodes' outputs, in the order of the call, each once."""
    outputs: tuple[Tensor, ...]
    flops: dict[Arithmetic, int] = {}
    """Matrix work by the format multiplied in; a multiply-add is two."""
    vector_operations: int = 0
    """Everything else that is computed, an operation for each element and step."""
    bytes_read: int = 0
    bytes_written: int = 0
    """What it would move by itself; 0 for views."""
    opaque: bool = False
    touched: dict[str, int] | None = None
    """Of operands read by index: bytes of the distinct elements that are read."""
    times: int = 1
    """How often it is done: work and bytes are those of all times together."""
    line: int | None = None
    """Of the reference's source, from 1."""

    @property
    def bytes(self) -> int:
        return self.bytes_read + self.bytes_written


class Group(Value):
    """Operations that can live in one kernel, and what crosses its border when they do."""

    nodes: tuple[str, ...]
    kind: Kind
    reads: dict[str, int]
    """Bytes by the name of what is read: a graph input, or another group's output."""
    writes: dict[str, int]
    """Bytes by name of what a later group or the caller needs."""
    flops: dict[Arithmetic, int] = {}
    vector_operations: int = 0
    recomputed: tuple[str, ...] = ()
    """Cheap nodes of other groups that are done again here, rather than read."""
    times: int = 1

    @property
    def bytes(self) -> int:
        return sum(self.reads.values()) + sum(self.writes.values())


class Graph(Value):
    """A definition at one workload. Nodes are in the order of execution."""

    inputs: tuple[Tensor, ...]
    """The tensors among the definition's inputs; Python numbers are part of the nodes."""
    outputs: tuple[Tensor, ...]
    """Under the definition's names, as the reference returns them."""
    results: tuple[str, ...]
    """For each output, the name of the node output or input that it is."""
    nodes: tuple[Node, ...]
    groups: tuple[Group, ...]
    capture: CaptureKind
    opaque_share: float
    """The share of the cost, in [0, 1], that lies in opaque nodes."""
    touched: dict[str, int]
    """Bytes of each input that the outputs depend on; less than all where rows are picked by an index."""
    note: str = ""
    """What was assumed or given up on the way, in a sentence; empty when nothing was."""

    @property
    def flops(self) -> dict[Arithmetic, int]:
        """Matrix work of all nodes by format."""
        return total_flops(node.flops for node in self.nodes)

    @property
    def vector_operations(self) -> int:
        return sum(node.vector_operations for node in self.nodes)

    @property
    def bytes(self) -> int:
        """What all nodes would move one by one."""
        return sum(node.bytes for node in self.nodes)


def total_flops(parts: object) -> dict[Arithmetic, int]:
    """The sum, by format, of several mappings."""
    total: dict[Arithmetic, int] = {}
    for part in parts:  # type: ignore[attr-defined]
        assert isinstance(part, Mapping)
        for arithmetic, amount in part.items():
            total[arithmetic] = total.get(arithmetic, 0) + amount
    return total
