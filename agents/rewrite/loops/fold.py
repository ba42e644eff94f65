"""The loop in the operations that one length led to: a run of equal steps, and what stands before and after it."""

from typing import Any

from agents.rewrite.loops.afterwards import Afterwards
from agents.rewrite.loops.recurrence import Moving, NoLoop, Recurrence, State
from agents.rewrite.program import Number, Op, Program, Ref, Typed

_OLDEST = 3
"""How many steps before a step may be that it still reads."""
_FEWEST = 3
"""Steps that have to be alike before they are called a loop."""


class _Unfit(Exception):
    """The steps from here on differ in more than evenly growing numbers."""


def folded(program: Program, step: int) -> Recurrence:
    """`step`: how many operations every step has. `NoLoop` when there is no run of such steps."""
    ops = list(program.ops.values())
    runs = _runs([op.target for op in ops], step)
    most = max((count for _, count in runs), default=0)
    if most < _FEWEST:
        raise NoLoop("no run of equal steps")
    for start, count in runs:
        if count == most:
            try:
                return _Fold(program, ops, start, step, count).recurrence()
            except _Unfit:
                continue
    raise NoLoop("the steps differ in more than indices that grow evenly")


def _runs(targets: list[str], step: int) -> list[tuple[int, int]]:
    """Every place from which steps repeat, and how many of them there are."""
    same = [one == other for one, other in zip(targets, targets[step:], strict=False)]
    found, length = [], 0
    for place in reversed(range(len(same))):
        length = length + 1 if same[place] else 0
        if length >= step:
            found.append((place, length // step + 1))
    return found[::-1]


class _Fold:
    def __init__(self, program: Program, ops: list[Op], start: int, step: int, count: int) -> None:
        self.program, self.ops, self.start, self.step, self.count = program, ops, start, step, count
        self.place = {op.name: number for number, op in enumerate(ops)}
        self.states: dict[str, State] = {}
        self.types: dict[str, Typed] = {
            name: typed for name, typed in program.types.items() if name not in self.place
        }

    def recurrence(self) -> Recurrence:
        before = {op.name: op for op in self.ops[: self.start]}
        body = {op.name: op for op in map(self._body_op, range(self.step))}
        end = self.start + self.step * self.count
        names = [op.name for op in self.ops[self.start : self.start + self.step]]
        after = Afterwards(self.program, names, self._home, self.count, self.types)
        ops = {op.name: op for number, op in enumerate(self.ops[end:]) for op in after.taken(op, number)}
        results = tuple(after.result(name) for name in self.program.results)
        for name in before:
            if name in self.program.types:
                self.types[name] = self.program.types[name]
        return Recurrence(
            self.program.followed, self.program.inputs, self.types, self.program.constants, before, body, ops,
            self.states, after.collected, after.finals, (self.count,), results,
        )  # fmt: skip

    def _body_op(self, place: int) -> Op:
        copies = [self.ops[self.start + turn * self.step + place] for turn in range(self.count)]
        first = copies[0]
        types = [self.program.types.get(copy.name) for copy in copies]
        if any(typed != types[0] for typed in types):
            raise _Unfit
        if types[0] is not None:
            self.types[first.name] = types[0]
        args = self._alike([copy.args for copy in copies])
        return Op(first.name, first.target, args, self._alike([copy.kwargs for copy in copies]))

    def _alike(self, values: list[Any]) -> Any:
        """One argument in all steps."""
        first = values[0]
        if any(type(value) is not type(first) for value in values):
            raise _Unfit
        if isinstance(first, Ref):
            return self._reference([value.name for value in values])
        if isinstance(first, Number):
            return _number([value.values[0] for value in values])
        if isinstance(first, tuple):
            return self._tuples(values)
        if isinstance(first, dict):
            self._alike([tuple(value) for value in values])
            return {key: self._alike([value[key] for value in values]) for key in first}
        if any(value != first for value in values):
            raise _Unfit
        return first

    def _tuples(self, values: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        if len({len(value) for value in values}) != 1:
            raise _Unfit
        return tuple(self._alike(list(group)) for group in zip(*values, strict=True))

    def _reference(self, names: list[str]) -> Ref:
        """To what stands outside, to a value of the same step, or to one of the step before."""
        homes = [self._home(name) for name in names]
        if all(home is None for home in homes):
            if len(set(names)) != 1:
                raise _Unfit
            return Ref(names[0])
        turns = [home[0] if home else None for home in homes]
        places = {home[1] for home in homes if home}
        if len(places) != 1:
            raise _Unfit
        source = self.ops[self.start + places.pop()].name
        if turns == list(range(self.count)):
            return Ref(source)
        ago = turns.count(None)
        if 0 < ago <= _OLDEST and turns == [*([None] * ago), *range(self.count - ago)]:
            return Ref(self._state(names[:ago], source))
        raise _Unfit

    def _state(self, firsts: list[str], source: str) -> str:
        """What a step reads of the one that is as many before it as `firsts`, which are read until there is one."""
        for first in reversed(firsts):
            source = self._kept(first, source)
        return source

    def _kept(self, first: str, source: str) -> str:
        if self.program.types.get(first) != self.types.get(source, self._type(source)):
            raise _Unfit
        wanted = State(first, source)
        for name, state in self.states.items():
            if state == wanted:
                return name
        name = f"{source}_before"
        name = name if name not in self.states else f"{name}_{len(self.states)}"
        self.states[name] = wanted
        self.types[name] = self.program.types[first]
        return name

    def _type(self, name: str) -> Typed | None:
        return self.program.types.get(name)

    def _home(self, name: str) -> tuple[int, int] | None:
        """(Turn, place) of a value of the loop."""
        number = self.place.get(name, -1) - self.start
        return divmod(number, self.step) if 0 <= number < self.step * self.count else None


def _number(values: list[int | float]) -> Number:
    first = values[0]
    if all(value == first or (value != value and first != first) for value in values):
        return Number((first,))
    if any(not isinstance(value, int) for value in values):
        raise _Unfit
    step = int(values[1] - first)
    if any(value != first + step * turn for turn, value in enumerate(values)):
        raise _Unfit
    return Moving((int(first),), step)
