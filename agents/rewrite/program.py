"""A reference as a list of tensor operations, with their sizes at several workloads side by side."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod
from typing import Any

from tasks.workload import Workload

Vector = tuple[int, ...]
"""A size: one number for each workload."""


@dataclass(frozen=True)
class Ref:
    """An argument that is the value of this name."""

    name: str


@dataclass(frozen=True)
class Number:
    """An argument that is a number, with its value in each workload."""

    values: tuple[int | float, ...]

    @property
    def constant(self) -> int | float | None:
        """The value, when it is the same in all workloads."""
        return self.values[0] if len(set(self.values)) == 1 else None


@dataclass(frozen=True)
class Typed:
    """A tensor's sizes and element type (torch's name without the prefix)."""

    shape: tuple[Vector, ...]
    dtype: str

    @property
    def elements(self) -> Vector:
        return product(self.shape, len(self.shape[0]) if self.shape else 1)


@dataclass(frozen=True)
class Op:
    """One call. `args` and `kwargs` hold `Ref`, `Number`, texts, bools, None, and tuples of these."""

    name: str
    target: str
    """`mul.Tensor`: the operation and its overload, as ATen calls them; `getitem` picks one of several results."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def base(self) -> str:
        return self.target.split(".")[0]

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the values it takes, each once."""
        return tuple(dict.fromkeys(ref.name for ref in refs_in((self.args, self.kwargs))))


@dataclass
class Program:
    """`ops` in the order of execution; `types` holds every input, constant and single result that is a tensor."""

    followed: tuple[Workload, ...]
    """The workloads that sizes are given for: some of the task's, and others that differ in one axis."""
    inputs: tuple[str, ...]
    """All inputs of the definition, Python numbers included, in calling order."""
    types: dict[str, Typed]
    ops: dict[str, Op]
    results: tuple[str, ...]
    constants: dict[str, Any]
    """Tensors that the reference spells out, as nested lists."""
    helpers: dict[str, str] = field(default_factory=dict)
    """Functions that the emitted module defines, by name: `helper.<name>` is a call of one."""

    @property
    def workloads(self) -> int:
        return len(self.followed)

    def one(self, size: int = 1) -> Vector:
        return (size,) * self.workloads


def refs_in(value: Any) -> Iterator[Ref]:
    if isinstance(value, Ref):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from refs_in(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from refs_in(item)


def product(sizes: tuple[Vector, ...], workloads: int) -> Vector:
    """The product workload by workload; of no sizes, one."""
    return tuple(prod(size[place] for size in sizes) for place in range(workloads))


def replaced(value: Any, names: dict[str, str]) -> Any:
    """`value` with every reference to a key of `names` made one to its value."""
    if isinstance(value, Ref):
        return Ref(names.get(value.name, value.name))
    if isinstance(value, dict):
        return {key: replaced(item, names) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(replaced(item, names) for item in value)
    return value
