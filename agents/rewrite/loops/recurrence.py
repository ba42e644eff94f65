"""A loop as data: what stands before it, one step of it, and what is made of its steps afterwards."""

from dataclasses import dataclass
from typing import Any

from agents.rewrite.program import Number, Op, Ref, Typed, Vector
from tasks.workload import Workload


class NoLoop(Exception):
    """The reference has no loop that one kernel could walk; says why."""


@dataclass(frozen=True)
class Moving(Number):
    """A whole number that grows evenly: `values + step * t` in step t."""

    step: int = 0

    @property
    def constant(self) -> None:
        return None


@dataclass(frozen=True)
class State:
    """What a step reads of the one before: the value `next`, and before the first step the value `first`."""

    first: str
    next: str


@dataclass(frozen=True)
class Collected:
    """A tensor that holds the value `source` of every step, the one of step t at `place` along `dim`."""

    source: str
    dim: int
    adds_dimension: bool
    """Whether `dim` is none of the value's own, which else has size one there."""
    place: Moving
    into: str | None = None
    """What the tensor holds where no step writes; none where every place is written."""


@dataclass(frozen=True)
class Recurrence:
    """Values of `body` may read those of `before`, of the same step, and `states`, which stand under their own names.

    `after` reads values of `before`, `collected`, and `finals`: values of the last step, under their own names.
    """

    followed: tuple[Workload, ...]
    inputs: tuple[str, ...]
    types: dict[str, Typed]
    constants: dict[str, Any]
    before: dict[str, Op]
    body: dict[str, Op]
    after: dict[str, Op]
    states: dict[str, State]
    collected: dict[str, Collected]
    finals: dict[str, str]
    count: Vector
    """Steps."""
    results: tuple[str, ...]


def names_in(value: Any) -> set[str]:
    """Names of the values that `value`, arguments of an operation, refers to."""
    if isinstance(value, Ref):
        return {value.name}
    if isinstance(value, dict):
        return {name for item in value.values() for name in names_in(item)}
    if isinstance(value, tuple):
        return {name for item in value for name in names_in(item)}
    return set()
