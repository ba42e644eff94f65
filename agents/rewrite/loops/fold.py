"""The loop in the operations that one length led to: a run of equal steps, and what stands before and after it."""

from typing import Any

from agents.rewrite.loops.recurrence import Collected, Moving, NoLoop, Recurrence, State, names_in
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
        self.collected: dict[str, Collected] = {}
        self.finals: dict[str, str] = {}
        self.renamed: dict[str, str] = {}
        """Names of operations after the loop, which are the same at every length."""
        self.types: dict[str, Typed] = {
            name: typed for name, typed in program.types.items() if name not in self.place
        }

    def recurrence(self) -> Recurrence:
        before = {op.name: op for op in self.ops[: self.start]}
        body = {op.name: op for op in map(self._body_op, range(self.step))}
        end = self.start + self.step * self.count
        after = {op.name: op for number, op in enumerate(self.ops[end:]) for op in self._after(op, number)}
        results = tuple(self._result(name) for name in self.program.results)
        for name in before:
            if name in self.program.types:
                self.types[name] = self.program.types[name]
        return Recurrence(
            self.program.followed, self.program.inputs, self.types, self.program.constants, before, body, after,
            self.states, self.collected, self.finals, (self.count,), results,
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
            if len({len(value) for value in values}) != 1:
                raise _Unfit
            return tuple(self._alike(list(group)) for group in zip(*values, strict=True))
        if isinstance(first, dict):
            if any(list(value) != list(first) for value in values):
                raise _Unfit
            return {key: self._alike([value[key] for value in values]) for key in first}
        if any(value != first for value in values):
            raise _Unfit
        return first

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

    def _after(self, op: Op, number: int) -> list[Op]:
        """An operation after the loop, and what has to be laid together for it; named so at every length."""
        name = f"{op.base}_after{number}"
        if op.name in self.program.types:
            self.types[name] = self.program.types[op.name]
        self.renamed[op.name] = name
        if op.base in ("stack", "cat") and any(self._home(ref.name) for ref in op.args[0]):
            return self._gathered(op, name)
        return [Op(name, op.target, self._outside(op.args), self._outside(op.kwargs))]

    def _outside(self, value: Any) -> Any:
        if isinstance(value, Ref):
            return Ref(self._result(value.name))
        if isinstance(value, tuple):
            return tuple(self._outside(item) for item in value)
        if isinstance(value, dict):
            return {key: self._outside(item) for key, item in value.items()}
        return value

    def _result(self, name: str) -> str:
        """What a name stands for after the loop."""
        home = self._home(name)
        if home is None:
            return self.renamed.get(name, name)
        if home[0] != self.count - 1:
            raise NoLoop("a value of one step in the middle is read after the loop")
        source = self.ops[self.start + home[1]].name
        self.finals[f"{source}_last"] = source
        self.types[f"{source}_last"] = self.program.types[name]
        return f"{source}_last"

    def _gathered(self, op: Op, name: str) -> list[Op]:
        """A stack of the values of all steps, perhaps behind or before others."""
        refs = [ref.name for ref in op.args[0]]
        homes = [self._home(ref) for ref in refs]
        inside = [home for home in homes if home is not None]
        first = homes.index(inside[0])
        turns = [turn for turn, _ in inside]
        is_run = homes[first : first + self.count] == inside and len({place for _, place in inside}) == 1
        step = 1 if turns == list(range(self.count)) else -1
        if not is_run or turns[::step] != list(range(self.count)):
            raise NoLoop("what is laid together is not one value of every step")
        source = self.ops[self.start + inside[0][1]].name
        dim = op.args[1] if len(op.args) > 1 else op.kwargs.get("dim", Number((0,)))
        typed = self.program.types[op.name]
        axis = int(dim.constant or 0) % len(typed.shape)
        own = self.program.types[source].shape
        if op.base == "cat" and own[axis] != (1,):
            raise NoLoop("what is laid together has more than one place a step")
        start = 0 if step == 1 else self.count - 1
        whole = len(inside) == len(refs)
        held = name if whole else f"{name}_steps"
        sizes = list(typed.shape)
        sizes[axis] = (self.count,)
        self.types[held] = Typed(tuple(sizes), typed.dtype)
        self.collected[held] = Collected(source, axis, op.base == "stack", Moving((start,), step))
        if whole:
            return []
        return self._joined(op, name, held, axis, (refs[:first], refs[first + self.count :]))

    def _joined(
        self, op: Op, name: str, held: str, axis: int, others: tuple[list[str], list[str]]
    ) -> list[Op]:
        parts, made = [], []
        for number, group in enumerate(others):
            if not group:
                continue
            part = f"{name}_part{number}"
            refs = tuple(Ref(self._result(ref)) for ref in group)
            made.append(Op(part, op.target, (refs, Number((axis,)))))
            typed = self.types[name]
            sizes = list(typed.shape)
            sizes[axis] = (
                sum(1 if op.base == "stack" else self.program.types[r].shape[axis][0] for r in group),
            )
            self.types[part] = Typed(tuple(sizes), typed.dtype)
            parts.append((number, Ref(part)))
        ordered = [ref for number, ref in parts if number == 0] + [Ref(held)]
        ordered += [ref for number, ref in parts if number == 1]
        return [*made, Op(name, "cat.default", (tuple(ordered), Number((axis,))))]


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


def live(recurrence: Recurrence) -> Recurrence:
    """Without what no result hangs on; what is read of a step before keeps its own source alive."""
    after = _needed(recurrence.after, set(recurrence.results))
    wanted = set(recurrence.results) | {
        name for op in after.values() for name in names_in((op.args, op.kwargs))
    }
    collected = {name: value for name, value in recurrence.collected.items() if name in wanted}
    finals = {name: value for name, value in recurrence.finals.items() if name in wanted}
    roots = {value.source for value in collected.values()} | set(finals.values())
    while True:
        body = _needed(recurrence.body, roots)
        read = {name for op in body.values() for name in names_in((op.args, op.kwargs))} | roots
        states = {name: state for name, state in recurrence.states.items() if name in read}
        more = {state.next for state in states.values()}
        if more <= roots:
            break
        roots |= more
    return Recurrence(
        recurrence.followed, recurrence.inputs, recurrence.types, recurrence.constants, recurrence.before, body, after,
        states, collected, finals, recurrence.count, recurrence.results,
    )  # fmt: skip


def _needed(ops: dict[str, Op], wanted: set[str]) -> dict[str, Op]:
    waiting, found = list(wanted), set[str]()
    while waiting:
        name = waiting.pop()
        if name in ops and name not in found:
            found.add(name)
            waiting += names_in((ops[name].args, ops[name].kwargs))
    return {name: op for name, op in ops.items() if name in found}
