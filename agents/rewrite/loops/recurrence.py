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


def united(parts: list[Recurrence]) -> Recurrence:
    """One for all sizes of those that were found at one size each; `NoLoop` where they differ in more than numbers."""
    first = parts[0]
    for part in parts[1:]:
        for field in ("body", "before", "after", "states", "finals", "collected"):
            if list(getattr(part, field)) != list(getattr(first, field)):
                raise NoLoop(f"what is done ({field}) depends on the length")
        if part.results != first.results or part.constants != first.constants:
            raise NoLoop("results or constants depend on the length")
    return Recurrence(
        followed=tuple(workload for part in parts for workload in part.followed),
        inputs=first.inputs,
        types={name: _zipped([part.types[name] for part in parts]) for name in first.types},
        constants=first.constants,
        before={name: _zipped([part.before[name] for part in parts]) for name in first.before},
        body={name: _zipped([part.body[name] for part in parts]) for name in first.body},
        after={name: _zipped([part.after[name] for part in parts]) for name in first.after},
        states={name: _zipped([part.states[name] for part in parts]) for name in first.states},
        collected={name: _zipped([part.collected[name] for part in parts]) for name in first.collected},
        finals=first.finals,
        count=tuple(number for part in parts for number in part.count),
        results=first.results,
    )


def _zipped(values: list[Any]) -> Any:
    """Numbers side by side; everything else must be the same in all."""
    first = values[0]
    if any(type(value) is not type(first) for value in values):
        raise NoLoop("arguments of different kinds at different lengths")
    if isinstance(first, Moving):
        if len({value.step for value in values}) != 1:
            raise NoLoop("indices grow differently at different lengths")
        return Moving(tuple(n for value in values for n in value.values), first.step)
    if isinstance(first, Number):
        return Number(tuple(n for value in values for n in value.values))
    if isinstance(first, Typed):
        if len({(value.dtype, len(value.shape)) for value in values}) != 1:
            raise NoLoop("element types or dimensions depend on the length")
        sizes = zip(*(value.shape for value in values), strict=True)
        return Typed(tuple(tuple(n for size in group for n in size) for group in sizes), first.dtype)
    if isinstance(first, Op):
        if any(value.target != first.target for value in values):
            raise NoLoop("operations depend on the length")
        return Op(
            first.name,
            first.target,
            _zipped([v.args for v in values]),
            _zipped([v.kwargs for v in values]),
        )
    if isinstance(first, Collected):
        place = _zipped([value.place for value in values])
        if len({(v.source, v.dim, v.adds_dimension, v.into) for v in values}) != 1:
            raise NoLoop("what is collected depends on the length")
        return Collected(first.source, first.dim, first.adds_dimension, place, first.into)
    if isinstance(first, dict):
        if any(list(value) != list(first) for value in values):
            raise NoLoop("arguments depend on the length")
        return {key: _zipped([value[key] for value in values]) for key in first}
    if isinstance(first, tuple):
        if len({len(value) for value in values}) != 1:
            raise NoLoop("lists as long as the loop are used as more than a stack")
        return tuple(_zipped(list(group)) for group in zip(*values, strict=True))
    if any(value != first for value in values):
        raise NoLoop("arguments depend on the length")
    return first


def names_in(value: Any) -> set[str]:
    """Names of the values that `value`, arguments of an operation, refers to."""
    if isinstance(value, Ref):
        return {value.name}
    if isinstance(value, dict):
        return {name for item in value.values() for name in names_in(item)}
    if isinstance(value, tuple):
        return {name for item in value for name in names_in(item)}
    return set()
