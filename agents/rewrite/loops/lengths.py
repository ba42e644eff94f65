"""The loop of a reference, found by following it at several short lengths and at one that is longer."""

import time
from collections.abc import Iterator
from itertools import pairwise
from math import inf

from agents.rewrite.loops.fold import folded
from agents.rewrite.loops.live import live
from agents.rewrite.loops.recurrence import NoLoop, Recurrence
from agents.rewrite.loops.unite import united
from agents.rewrite.loops.writes import without_writes
from agents.rewrite.loops.written import unwritten
from agents.rewrite.program import Program
from agents.rewrite.sizes import scalars
from agents.rewrite.trace import NotTraceable, follow_as_is
from tasks.definition import Definition
from tasks.workload import Workload

_SHORT = (4, 5, 6)
_OTHERS = (7, 9, 8, 11, 10)
_LONGEST = 600
"""Operations that are followed at once."""
_LONG = 150
"""Of the longest length that is followed, about."""
_LIMIT_S = 20.0


def recurrence(definition: Definition, workloads: tuple[Workload, ...]) -> Recurrence:
    """`NoLoop` with the reason when the steps along no axis are alike."""
    if not any(word in definition.reference for word in ("for ", "while ")):
        raise NoLoop("the reference has no loop")
    reasons = []
    for axis, values in _axes(definition, workloads):
        try:
            return _Follower(definition, values).along(axis)
        except (_OtherAxis, NotTraceable) as reason:
            reasons.append(f"{axis}: {reason}")
    raise NoLoop("; ".join(reasons) or "no axis is long enough")


def _axes(
    definition: Definition, workloads: tuple[Workload, ...]
) -> Iterator[tuple[str, tuple[Workload, ...]]]:
    """Axes that a loop may go along, and workloads that say how long each is; those that vary first."""
    free = [axis for axis in definition.var_axes if all(axis in w.axes for w in workloads)]
    for axis in sorted(free, key=lambda axis: -max(w.axes[axis] for w in workloads)):
        yield axis, workloads
    used = {axis for spec in definition.inputs.values() for axis in spec.shape or ()}
    first = workloads[0]
    fixed = {
        axis: size for axis, size in definition.resolve_axes(first.axes).items() if axis not in first.axes
    }
    operations = _operations(definition, first)
    for axis, size in sorted(fixed.items(), key=lambda item: -item[1]):
        if axis in used and 8 <= size <= operations:
            yield axis, tuple(w.model_copy(update={"axes": {**w.axes, axis: size}}) for w in workloads)


def _operations(definition: Definition, workload: Workload) -> float:
    """Of the reference at a workload: a loop does one at least in each step."""
    numbers = {name: values[0] for name, values in scalars(definition, (workload,)).items()}
    try:
        return len(follow_as_is(definition, workload, numbers, _LONGEST).ops)
    except NotTraceable as reason:
        return inf if str(_LONGEST) in str(reason) else 0


class _OtherAxis(NoLoop):
    """The loop does not go along this axis."""


class _Follower:
    def __init__(self, definition: Definition, workloads: tuple[Workload, ...]) -> None:
        self.definition = definition
        self.ordered = sorted(workloads, key=lambda workload: sum(workload.axes.values()))
        self.deadline = time.monotonic() + _LIMIT_S

    def along(self, axis: str) -> Recurrence:
        first = self.ordered[0]
        short = [_at(first, axis, length) for length in _SHORT]
        others = list(self._others(axis))
        sizes = [*short, *others, _at(first, axis, 1), _at(first, axis, 2)]
        numbers = scalars(self.definition, (*sizes, first))
        drawn = [{name: values[place] for name, values in numbers.items()} for place in range(len(sizes) + 1)]
        programs = [self._program(workload, drawn[n]) for n, workload in enumerate(short)]
        step = _step(programs)
        found = [live(folded(program, step)) for program in programs]
        for number, workload in enumerate(others, len(short)):
            try:
                program = self._program(workload, drawn[number])
            except NotTraceable:
                continue  # sizes that the definition does not allow
            found.append(live(folded(program, step)))
        for length, place in ((1, -2), (2, -1)):
            few = self._program(sizes[place], drawn[place - 1])
            _check_few(programs[0], step * (_SHORT[0] - length), found[0], few)
        longest = _at(first, axis, max(12, min(first.axes[axis], _LONG // step)))
        found.append(live(folded(self._program(longest, drawn[-1]), step)))
        return live(without_writes(united(found)))

    def _others(self, axis: str) -> Iterator[Workload]:
        """Neighbours that tell axes apart, and the largest of the task's workloads."""
        first = self.ordered[0]
        lengths = iter(_OTHERS)
        for other, factor in zip(
            (a for a in self.definition.var_axes if a != axis and a in first.axes), (2, 3, 5, 4), strict=False
        ):
            axes = {**first.axes, other: first.axes[other] * factor}
            yield _at(first.model_copy(update={"axes": axes}), axis, next(lengths))
        if len(self.ordered) > 1:
            yield _at(self.ordered[-1], axis, _SHORT[1])

    def _program(self, workload: Workload, numbers: dict[str, int | float]) -> Program:
        if time.monotonic() > self.deadline:
            raise NoLoop(f"following the reference takes more than {_LIMIT_S:.0f} s")
        return unwritten(follow_as_is(self.definition, workload, numbers, _LONGEST))


def _check_few(program: Program, missing: int, loop: Recurrence, few: Program) -> None:
    """Loops of one step or two have to make the same calls, but for slices of all there is; `loop` is `program`'s."""
    calls = [op.base for op in program.ops.values()]
    start = len(loop.before)
    wanted = calls[:start] + calls[start + missing :]
    if _but_slices(wanted) != _but_slices([op.base for op in few.ops.values()]):
        raise NoLoop("a short loop makes other calls")


def _but_slices(calls: list[str]) -> list[str]:
    return [call for call in calls if not call.startswith("slice")]


def _at(workload: Workload, axis: str, length: int) -> Workload:
    return workload.model_copy(update={"axes": {**workload.axes, axis: length}})


def _step(programs: list[Program]) -> int:
    """By how many operations one place more along the axis lengthens the record."""
    counts = [len(program.ops) for program in programs]
    more = {later - earlier for earlier, later in pairwise(counts)}
    if len(more) != 1 or (step := more.pop()) < 1:
        raise _OtherAxis("the number of operations does not grow evenly with it")
    return step
