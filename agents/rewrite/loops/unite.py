"""Loops that were found at one size each, as one loop for all sizes."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from agents.rewrite.loops.recurrence import Collected, Moving, NoLoop, Recurrence
from agents.rewrite.program import Number, Op, Typed


def united(parts: list[Recurrence]) -> Recurrence:
    """One for all sizes of those that were found at one size each; `NoLoop` where they differ in more than numbers."""
    first = parts[0]
    for part in parts[1:]:
        for field in ("body", "before", "after", "states", "finals", "collected"):
            if list(getattr(part, field)) != list(getattr(first, field)):
                raise NoLoop(f"what is done ({field}) depends on the length")
        if part.states != first.states or part.finals != first.finals:
            raise NoLoop("what a step leaves depends on the length")
        if part.results != first.results or part.constants != first.constants:
            raise NoLoop("results or constants depend on the length")
    return Recurrence(
        followed=tuple(workload for part in parts for workload in part.followed),
        inputs=first.inputs,
        types=_zipped([{name: part.types[name] for name in first.types} for part in parts]),
        constants=first.constants,
        before=_zipped([part.before for part in parts]),
        body=_zipped([part.body for part in parts]),
        after=_zipped([part.after for part in parts]),
        states=first.states,
        collected={name: _collected([part.collected[name] for part in parts]) for name in first.collected},
        finals=first.finals,
        count=tuple(number for part in parts for number in part.count),
        results=first.results,
    )


def _zipped(values: list[Any]) -> Any:
    """Numbers side by side; everything else must be the same in all."""
    first = values[0]
    if any(type(value) is not type(first) for value in values):
        raise NoLoop("arguments of different kinds at different lengths")
    zipper = _ZIPPERS.get(type(first))
    if zipper is not None:
        return zipper(values)
    if any(value != first for value in values):
        raise NoLoop("arguments depend on the length")
    return first


def _numbers(values: list[Number]) -> Number:
    return Number(tuple(n for value in values for n in value.values))


def _moving(values: list[Moving]) -> Moving:
    step = _zipped([value.step for value in values])
    return Moving(tuple(n for value in values for n in value.values), step)


def _typed(values: list[Typed]) -> Typed:
    dtype = _zipped([value.dtype for value in values])
    sizes = _zipped([tuple(Number(size) for size in value.shape) for value in values])
    return Typed(tuple(size.values for size in sizes), dtype)


def _op(values: list[Op]) -> Op:
    target = _zipped([value.target for value in values])
    args, kwargs = _zipped([v.args for v in values]), _zipped([v.kwargs for v in values])
    return Op(values[0].name, target, args, kwargs)


def _collected(values: list[Collected]) -> Collected:
    place = _zipped([value.place for value in values])
    same: Collected = _zipped([replace(value, place=place) for value in values])
    return same


def _dicts(values: list[dict[str, Any]]) -> dict[str, Any]:
    _zipped([tuple(value) for value in values])
    return {key: _zipped([value[key] for value in values]) for key in values[0]}


def _tuples(values: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    if len({len(value) for value in values}) != 1:
        raise NoLoop("lists as long as the loop are used as more than a stack")
    return tuple(_zipped(list(group)) for group in zip(*values, strict=True))


_ZIPPERS: dict[type, Callable[[list[Any]], Any]] = {
    Number: _numbers, Moving: _moving, Typed: _typed, Op: _op, dict: _dicts, tuple: _tuples,
}  # fmt: skip
