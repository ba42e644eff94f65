"""What the reference did, in order, before it becomes a graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from tasks.gpu import Arithmetic
from tasks.graph.model import Kind

Geometry = tuple[Any, ...]
"""Offset, sizes, strides and element type of a view."""
Region = tuple[int, int, int]
"""Bytes of a storage that a view spans: from, to, and how many there are."""


class Ref(NamedTuple):
    """A tensor in a recorded call: the name of the value it is."""

    name: str


@dataclass(frozen=True, slots=True)
class Work:
    """What one call computes and moves; it depends on shapes alone, and is worked out once for each."""

    kind: Kind
    flops: dict[Arithmetic, int] = field(default_factory=dict)
    vector: int = 0
    reads: tuple[int, ...] = ()
    """Bytes for each tensor argument, in order."""
    written: int = 0
    opaque: bool = False


class Made(NamedTuple):
    """A tensor that a step returned."""

    name: str
    root: str
    """The value that it is a view of; its own name where it is none."""
    shape: torch.Size
    dtype: torch.dtype


@dataclass(slots=True)
class Step:
    """One call. `args` hold `Ref`s for tensors, so that it can be replayed."""

    name: str
    number: int
    function: Any
    args: Any
    kwargs: Any
    operands: tuple[str, ...]
    """Names of the tensor arguments, in order, as often as they occur."""
    roots: tuple[str, ...]
    """For each operand the value that it is a view of, as it was last written."""
    newer: tuple[str, ...]
    """What was written into operands' memory after they got their names."""
    regions: tuple[Region | None, ...]
    """For each operand the part of its root that it is, when it is a part."""
    work: Work
    line: int | None = None
    outputs: tuple[Made, ...] = ()
    places: tuple[int, ...] = (0,)
    """Where its tensors stand among what it returns."""
    times: int = 1
    mutates: str | None = None
    """The version of a storage that is overwritten in place; the step's output is the next."""
    rows: tuple[int, torch.Tensor] | None = None
    """Of a gather along the first axis: which operand, and the distinct rows that are read."""
    touched: dict[str, int] | None = None
    leading: tuple[int, ...] = ()
    """For each operand the length of its first axis, where that is its root's first axis too; else 0."""
    root_rows: tuple[int, ...] = ()
    """For each operand the length of its root's first axis; 0 where it is not the longest step."""
    read_elements: int = 0
    """Of its largest operand."""


@dataclass(slots=True)
class Place:
    """A storage: the value that is in it now, and for each view its name and the value it was a view of."""

    root: str
    version: str
    weak: Any
    """Keeps the address from being used again."""
    bytes: int
    rows: int
    """The length of the first axis of what was made; 0 where that is not the longest step."""
    names: dict[Geometry, tuple[str, str]] = field(default_factory=dict)


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def geometry(tensor: torch.Tensor) -> Geometry:
    return tensor.storage_offset(), tensor.size(), tensor.stride(), tensor.dtype


def collect(value: Any, found: list[torch.Tensor]) -> list[torch.Tensor]:
    """`tensors_in`, as a list and without a generator: it runs for every call of a reference."""
    for item in value:
        if isinstance(item, torch.Tensor):
            found.append(item)
        elif isinstance(item, list | tuple):
            collect(item, found)
    return found
