"""What is made of the steps of a loop when it has ended."""

from collections.abc import Callable
from typing import Any

from agents.rewrite.loops.recurrence import Collected, Moving, NoLoop
from agents.rewrite.program import Number, Op, Program, Ref, Typed


class Afterwards:
    """`body` names a step's values; `home` says of a name which turn and place of the loop it is, if it is of it.

    Fills `types`, `collected` and `finals` for the operations that it takes.
    """

    def __init__(
        self, program: Program, body: list[str], home: Callable[[str], tuple[int, int] | None], count: int,
        types: dict[str, Typed],
    ) -> None:  # fmt: skip
        self.program, self.body, self.home, self.count, self.types = program, body, home, count, types
        self.collected: dict[str, Collected] = {}
        self.finals: dict[str, str] = {}
        self.renamed: dict[str, str] = {}
        """Names of operations after the loop, which are the same at every length."""

    def taken(self, op: Op, number: int) -> list[Op]:
        """An operation after the loop, and what has to be laid together for it; named so at every length."""
        name = f"{op.base}_after{number}"
        if op.name in self.program.types:
            self.types[name] = self.program.types[op.name]
        self.renamed[op.name] = name
        if op.base in ("stack", "cat") and any(self.home(ref.name) for ref in op.args[0]):
            return self._gathered(op, name)
        return [Op(name, op.target, self._outside(op.args), self._outside(op.kwargs))]

    def _outside(self, value: Any) -> Any:
        if isinstance(value, Ref):
            return Ref(self.result(value.name))
        if isinstance(value, tuple):
            return tuple(self._outside(item) for item in value)
        if isinstance(value, dict):
            return {key: self._outside(item) for key, item in value.items()}
        return value

    def result(self, name: str) -> str:
        """What a name stands for after the loop."""
        home = self.home(name)
        if home is None:
            return self.renamed.get(name, name)
        if home[0] != self.count - 1:
            raise NoLoop("a value of one step in the middle is read after the loop")
        source = self.body[home[1]]
        self.finals[f"{source}_last"] = source
        self.types[f"{source}_last"] = self.program.types[name]
        return f"{source}_last"

    def _gathered(self, op: Op, name: str) -> list[Op]:
        """A stack of the values of all steps, perhaps behind or before others."""
        refs = [ref.name for ref in op.args[0]]
        first, source, step = self._run(refs)
        typed = self.program.types[op.name]
        dim = op.args[1] if len(op.args) > 1 else op.kwargs.get("dim", Number((0,)))
        axis = int(dim.constant or 0) % len(typed.shape)
        if op.base == "cat" and self.program.types[source].shape[axis] != (1,):
            raise NoLoop("what is laid together has more than one place a step")
        held = name if len(refs) == self.count else f"{name}_steps"
        self.types[held] = _of_size(typed, axis, self.count)
        place = Moving((0 if step == 1 else self.count - 1,), step)
        self.collected[held] = Collected(source, axis, op.base == "stack", place)
        if held == name:
            return []
        front = self._part(op, f"{name}_front", axis, refs[:first])
        back = self._part(op, f"{name}_back", axis, refs[first + self.count :])
        pieces = (*(Ref(part.name) for part in front), Ref(held), *(Ref(part.name) for part in back))
        return [*front, *back, Op(name, "cat.default", (pieces, Number((axis,))))]

    def _run(self, refs: list[str]) -> tuple[int, str, int]:
        """Where the values of the steps begin, which value of a step it is, and 1 or, from the last on, -1."""
        homes = [self.home(ref) for ref in refs]
        inside = [home for home in homes if home is not None]
        first = homes.index(inside[0])
        turns = [turn for turn, _ in inside]
        step = 1 if turns == list(range(self.count)) else -1
        is_run = homes[first : first + self.count] == inside and len({place for _, place in inside}) == 1
        if not is_run or turns[::step] != list(range(self.count)):
            raise NoLoop("what is laid together is not one value of every step")
        return first, self.body[inside[0][1]], step

    def _part(self, op: Op, name: str, axis: int, refs: list[str]) -> list[Op]:
        """What is laid before or behind the values of the steps."""
        if not refs:
            return []
        sizes = [1 if op.base == "stack" else self.program.types[ref].shape[axis][0] for ref in refs]
        self.types[name] = _of_size(self.program.types[op.name], axis, sum(sizes))
        return [Op(name, op.target, (tuple(Ref(self.result(ref)) for ref in refs), Number((axis,))))]


def _of_size(typed: Typed, axis: int, size: int) -> Typed:
    """With another size along one axis."""
    return Typed((*typed.shape[:axis], (size,), *typed.shape[axis + 1 :]), typed.dtype)
