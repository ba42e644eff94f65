"""The values of a step, asked for at an index: a text for each dimension.

A value asks its operands in turn; views only change the index. Dimensions are told apart by asking: what a step leaves
for the next one is asked for where it is kept (`agents/rewrite/loops/symbols.py`).
"""

from collections.abc import Callable
from typing import Any

from agents.rewrite.loops.lines import Scribe, Value
from agents.rewrite.loops.places import moved, viewed
from agents.rewrite.loops.recurrence import Moving, NoLoop, Recurrence
from agents.rewrite.loops.reduced import reduced
from agents.rewrite.loops.symbols import MIXES, Symbols
from agents.rewrite.pointwise import FLOATS, expression, is_pointwise, rounded, tensor_arguments
from agents.rewrite.program import Number, Op, Program, Ref
from agents.rewrite.views import Index, broadcast_index

_FILLED = {
    "zeros": 0, "zeros_like": 0, "new_zeros": 0, "ones": 1, "ones_like": 1, "new_ones": 1, "full": None,
    "full_like": None, "new_full": None,
}  # fmt: skip


class Values:
    """Every value is worked out once at an index."""

    def __init__(self, loop: Recurrence, symbols: Symbols, size: Callable[[tuple[Any, ...]], str]) -> None:
        self.loop, self.symbols, self.size = loop, symbols, size
        self.program = Program(
            loop.followed, loop.inputs, loop.types, {**loop.before, **loop.body}, (), loop.constants
        )
        self.scribe = Scribe(loop.types, symbols, size, {*loop.states, *loop.inputs})
        self._made: dict[tuple[str, Index], Value] = {}

    def kept(self, state: str) -> Index:
        """Where a state stands: a dimension of its own for each of its sizes."""
        return self.own(state, state)

    def own(self, key: str, name: str) -> Index:
        """An index into the value `name`, of dimensions that are known by `key`."""
        shape = self.loop.types[name].shape
        index = tuple(self.symbols.named((key, place), size) for place, size in enumerate(shape))
        parts = [part for part in index if part != "0"]
        if len(set(parts)) != len(parts):
            raise NoLoop(MIXES)
        self.symbols.meet(frozenset(parts))
        return index

    def type(self, name: str) -> str:
        """The element type."""
        return self.loop.types[name].dtype

    def value(self, name: str, index: Index) -> Value:
        """The variable, or number, that holds the value at `index`."""
        key = (name, index)
        if key not in self._made:
            made = self._make(name, index)
            self.symbols.meet(made.dims)
            self.scribe.lines.tiles.add(made.dims)
            self._made[key] = made
        return self._made[key]

    def _make(self, name: str, index: Index) -> Value:
        op = self.program.ops.get(name)
        if name in self.loop.states:
            return self._of_last_step(name, index)
        if op is None:
            return self._given(name, index)
        if op.base in _FILLED:
            return self._filled(op)
        view = viewed(self.program, op, index, self.size)
        if view is not None:
            return self.value(*view)
        if is_pointwise(self.program, op):
            return self._pointwise(op, index)
        if name in self.loop.before:
            return self.scribe.loaded(name, index)
        return reduced(self, op, index)

    def _given(self, name: str, index: Index) -> Value:
        if name in self.program.constants and not self.program.types[name].shape:
            return Value(_literal(self.program.constants[name]), "number")
        return self.scribe.loaded(name, index)

    def _of_last_step(self, state: str, index: Index) -> Value:
        for part, own in zip(index, self.kept(state), strict=True):
            if part != own and not (self.symbols.is_one(part) and self.symbols.is_one(own)):
                raise NoLoop("a step reads another place of what the step before left than it keeps")
            if part != own:
                self.symbols.same(part, own)
        return Value(state, self.type(state), self.scribe.dims(index), True)

    def _filled(self, op: Op) -> Value:
        value: int | float | None = _FILLED[op.base]
        if value is None:
            given = op.args[1 if op.base != "new_full" else 2]
            if not isinstance(given, Number) or given.constant is None:
                raise NoLoop(f"{op.target} with a number that is no constant")
            value = given.constant
        dtype = self.type(op.name)
        if dtype == "bool":
            raise NoLoop("a step begins with a truth value")
        return Value(_literal(float(value) if dtype in FLOATS else int(value)), "number")

    def _pointwise(self, op: Op, index: Index) -> Value:
        dtype = self.type(op.name)
        operands = [self._operand(argument, index, dtype) for argument in tensor_arguments(op)]
        text = rounded(expression(op, dtype, [(value.text, value.dtype) for value in operands]), dtype)
        return self.scribe.assigned(op.name, text, dtype, operands)

    def _operand(self, argument: object, index: Index, dtype: str) -> Value:
        if isinstance(argument, Ref):
            return self.value(argument.name, broadcast_index(index, self.program.types[argument.name].shape))
        if isinstance(argument, Moving):
            if dtype not in FLOATS:
                raise NoLoop("a step reckons with its own number")
            return Value(f"({moved(argument, self.size)}) * 1.0", "float32", moves=True)
        assert isinstance(argument, Number)
        if argument.constant is None:
            return Value(self.size(argument.values), "number")
        return Value(_literal(argument.constant), "number")


def _literal(value: object) -> str:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f'float("{value}")'
    return repr(value)
