"""What the reference did, in order, before it becomes a graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch

from tasks.gpu import Arithmetic
from tasks.graph.model import Kind, Tensor


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


@dataclass(slots=True)
class Step:
    """One call. `args` hold `Ref`s for tensors, so that it can be replayed."""

    name: str
    function: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    operands: tuple[str, ...]
    """Names of the tensor arguments, in order, as often as they occur."""
    roots: tuple[str, ...]
    """For each operand the value that it is a view of."""
    newer: tuple[str, ...]
    """What was written into operands' memory after they got their names."""
    outputs: tuple[Tensor, ...]
    output_roots: tuple[str, ...]
    work: Work
    times: int = 1
    line: int | None = None
    mutates: str | None = None
    """The root that is overwritten in place; the step's output is its next version."""
    rows: Any = None
    """Of a gather along axis 0: (operand place, distinct row numbers)."""
    regions: tuple[tuple[int, int, int] | None, ...] = ()
    """For each operand that is a part of its root: bytes from, bytes to, bytes of the root."""
    touched: dict[str, int] | None = None
    places: tuple[int, ...] = (0,)
    """Where its tensors stand among what it returns."""


@dataclass(slots=True)
class Place:
    """A storage: the value that is in it now, and for each view its name and the value it was a view of."""

    root: str
    version: str
    weak: int
    names: dict[tuple[Any, ...], tuple[str, str]] = field(default_factory=dict)


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Every tensor in nested tuples, lists and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors_in(tuple(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
