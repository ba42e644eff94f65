"""The lines of a kernel that walks a loop: what is worked out once, what in every step, and what at the end.

A value is asked for at an index, a text for each of its dimensions, and asks its operands in turn; views only change
the index. Dimensions are told apart by asking: what a step leaves for the next one is asked for where it is kept, so
the lines are written again until no two dimensions turn out to be one (`agents/rewrite/loops/symbols.py`).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agents.rewrite.loops.contractions import contraction, is_product
from agents.rewrite.loops.places import moved, refolded
from agents.rewrite.loops.recurrence import Moving, NoLoop, Recurrence
from agents.rewrite.loops.sums import along, finished, is_sum, parts, summed_axes
from agents.rewrite.loops.symbols import Symbols
from agents.rewrite.pointwise import (
    FLOATS,
    TL,
    converted,
    expression,
    is_pointwise,
    rounded,
    tensor_arguments,
)
from agents.rewrite.program import Number, Op, Program, Ref, Typed, Vector
from agents.rewrite.views import Index, broadcast_index, held, is_view, source_index

_FILLED = {"zeros": 0, "zeros_like": 0, "new_zeros": 0, "ones": 1, "ones_like": 1, "new_ones": 1, "full": None,
           "full_like": None, "new_full": None}  # fmt: skip
_MIXES = "a step mixes the places of a dimension with each other, as a product with a matrix does"
_RESHAPES = {"view", "reshape", "_unsafe_view", "flatten", "unflatten"}
_NARROW = ("float16", "bfloat16", "float8_e4m3fn")


@dataclass(frozen=True)
class Value:
    """A variable or a number in the source."""

    text: str
    dtype: str
    dims: frozenset[str] = frozenset()
    moves: bool = False
    """Whether it is another one in every step."""


@dataclass
class Lines:
    """Texts in braces are filled in when the tile is known, which `agents/rewrite/loops/tile.py` does."""

    once: list[str] = field(default_factory=list)
    step: list[str] = field(default_factory=list)
    last: list[str] = field(default_factory=list)
    tensors: dict[str, str] = field(default_factory=dict)
    """Parameter by the name of what is loaded."""
    stored: list[tuple[str, Index]] = field(default_factory=list)
    loaded: list[tuple[str, Index]] = field(default_factory=list)
    reduced: set[str] = field(default_factory=set)
    dims: set[str] = field(default_factory=set)
    tiles: set[frozenset[str]] = field(default_factory=set)
    """The dimensions of every value that is held."""


class Body:
    """`size` writes a number of every workload as a parameter of the kernel or as it is."""

    def __init__(self, loop: Recurrence, symbols: Symbols, size: Callable[[tuple[Any, ...]], str]) -> None:
        self.loop, self.symbols, self.size = loop, symbols, size
        self.program = Program(
            loop.followed, loop.inputs, loop.types, {**loop.before, **loop.body}, (), loop.constants
        )
        self.lines = Lines()
        self._made: dict[tuple[str, Index], Value] = {}
        self._names = {*loop.states, *loop.inputs, "t", "g", "lane"}

    def written(self) -> Lines:
        """The lines, with the dimensions as they are known so far."""
        kept = {name: self._kept(name) for name in self.loop.states}
        for name, index in kept.items():
            first = self._value(self.loop.states[name].first, index)
            self.lines.once.append(f"{name} = {self._spread(first, self._dims(index), self._type(name))}")
        for name, index in kept.items():
            self._made[(name, index)] = Value(name, self._type(name), self._dims(index), True)
        self._collect()
        later = {name: self._next(name, index) for name, index in kept.items()}
        self.lines.step += _replacing(later)
        for name, source in self.loop.finals.items():
            state = next(state for state, value in self.loop.states.items() if value.next == source)
            self._store(
                name, kept[state], Value(state, self._type(state), self._dims(kept[state])), self.lines.last
            )
        return self.lines

    def _kept(self, state: str) -> Index:
        """Where a state stands: a dimension of its own for each of its sizes."""
        shape = self.loop.types[state].shape
        index = tuple(self.symbols.named((state, place), size) for place, size in enumerate(shape))
        self.symbols.meet(self._distinct(index))
        return index

    def _next(self, state: str, index: Index) -> str:
        value = self._value(self.loop.states[state].next, index)
        if value.dims == self._dims(index) and value.dtype != "number":
            return value.text
        return self._spread(value, self._dims(index), self._type(state))

    def _collect(self) -> None:
        for name, one in self.loop.collected.items():
            source, asked, shown = self._asked(name, one.source)
            self.symbols.meet(self._distinct(asked))
            value = self._value(source, asked)
            after = shown[one.dim :] if one.adds_dimension else shown[one.dim + 1 :]
            whole = (*shown[: one.dim], moved(one.place, self.size), *after)
            self._store(name, whole, value, self.lines.step)

    def _asked(self, name: str, source: str) -> tuple[str, Index, Index]:
        """The value to ask for, at dimensions of its own, and the same index into `source`.

        Where a step ends by making several dimensions one, those several are asked for.
        """
        op = self.loop.body.get(source)
        base = op.reads[0] if op is not None and op.base in _RESHAPES else source
        shape = self.loop.types[base].shape
        index = tuple(self.symbols.named((name, place), size) for place, size in enumerate(shape))
        if base == source:
            return source, index, index
        shown = refolded(index, shape, self.loop.types[source].shape, self.program.workloads, self.size)
        return base, index, shown

    def _distinct(self, index: Index) -> frozenset[str]:
        parts = [part for part in index if part != "0"]
        if len(set(parts)) != len(parts):
            raise NoLoop(_MIXES)
        return frozenset(parts)

    def _type(self, name: str) -> str:
        return self.loop.types[name].dtype

    def _dims(self, index: Index) -> frozenset[str]:
        found = frozenset(name for part in index for name in self.symbols.inside(part))
        self.lines.dims |= found
        return found

    def _spread(self, value: Value, dims: frozenset[str], dtype: str) -> str:
        """As a tile over all of `dims`."""
        tile = f"{{tile {','.join(sorted(dims))}}}"
        kind = TL["float32" if dtype in FLOATS else dtype]
        if value.dtype == "number":
            return f"tl.full({tile}, {value.text}, {kind})"
        return f"tl.broadcast_to({value.text}, {tile})"

    def _value(self, name: str, index: Index) -> Value:
        key = (name, index)
        if key not in self._made:
            made = self._make(name, index)
            self.symbols.meet(made.dims)
            self.lines.tiles.add(made.dims)
            self._made[key] = made
        return self._made[key]

    def _make(self, name: str, index: Index) -> Value:
        if name in self.loop.states:
            return self._of_last_step(name, index)
        if name in self.program.constants and not self.program.types[name].shape:
            return Value(_literal(self.program.constants[name]), "number")
        op = self.program.ops.get(name)
        if op is None:
            return self._loaded(name, index)
        if op.base in _FILLED:
            return self._filled(op)
        view = self._viewed(op, index)
        if view is not None:
            return self._value(*view)
        if is_pointwise(self.program, op):
            return self._pointwise(op, index)
        if name in self.loop.before:
            return self._loaded(name, index)
        if is_product(op):
            return self._product(op, index)
        if is_sum(self.program, op):
            return self._sum(op, index)
        raise NoLoop(f"a step has {op.target}")

    def _of_last_step(self, state: str, index: Index) -> Value:
        for part, own in zip(index, self._kept(state), strict=True):
            if part != own and not (self.symbols.is_one(part) and self.symbols.is_one(own)):
                raise NoLoop("a step reads another place of what the step before left than it keeps")
            if part != own:
                self.symbols.same(part, own)
        return Value(state, self._type(state), self._dims(index), True)

    def _filled(self, op: Op) -> Value:
        value = _FILLED[op.base]
        if value is None:
            given = op.args[1 if op.base != "new_full" else 2]
            if not isinstance(given, Number) or given.constant is None:
                raise NoLoop(f"{op.target} with a number that is no constant")
            value = given.constant
        dtype = self._type(op.name)
        if dtype == "bool":
            raise NoLoop("a step begins with a truth value")
        return Value(_literal(float(value) if dtype in FLOATS else int(value)), "number")

    def _viewed(self, op: Op, index: Index) -> tuple[str, Index] | None:
        """What a view shows, and where."""
        if op.base in ("expand_as", "view_as", "contiguous", "clone") and op.reads:
            shape = self.program.types[op.reads[0]].shape
            return (op.reads[0], broadcast_index(index, shape)) if op.base != "view_as" else None
        if not is_view(self.program, op):
            return None
        source = op.reads[0]
        moving = [n for n in op.args[1:] if isinstance(n, Moving)]
        if moving:
            return source, self._slid(op, index, moving[0])
        if op.base in _RESHAPES:
            old, new = self.program.types[source].shape, self.program.types[op.name].shape
            return source, refolded(index, new, old, self.program.workloads, self.size)
        return source_index(self.program, op, index, self.size)

    def _slid(self, op: Op, index: Index, at: Moving) -> Index:
        """A slice that moves on with the steps."""
        shape = self.program.types[op.reads[0]].shape
        dim = int(op.args[1].constant or 0) % len(shape)
        if op.base not in ("select", "slice", "narrow") or not isinstance(op.args[2], Moving):
            raise NoLoop(f"{op.target} grows from step to step")
        if any(value < 0 for value in at.values):
            at = Moving(tuple(v + n for v, n in zip(at.values, shape[dim], strict=True)), at.step)
        place = moved(at, self.size)
        if op.base == "select":
            return (*index[:dim], place, *index[dim:])
        part = place if index[dim] == "0" else f"{held(index[dim])} + {place}"
        return (*index[:dim], part, *index[dim + 1 :])

    def _pointwise(self, op: Op, index: Index) -> Value:
        dtype = self._type(op.name)
        operands = [self._operand(argument, index, dtype) for argument in tensor_arguments(op)]
        text = rounded(expression(op, dtype, [(value.text, value.dtype) for value in operands]), dtype)
        return self._assigned(op.name, text, dtype, operands)

    def _operand(self, argument: object, index: Index, dtype: str) -> Value:
        if isinstance(argument, Ref):
            return self._value(argument.name, broadcast_index(index, self.program.types[argument.name].shape))
        if isinstance(argument, Moving):
            if dtype not in FLOATS:
                raise NoLoop("a step reckons with its own number")
            return Value(f"({moved(argument, self.size)}) * 1.0", "float32", moves=True)
        assert isinstance(argument, Number)
        if argument.constant is None:
            return Value(self.size(argument.values), "number")
        return Value(_literal(argument.constant), "number")

    def _product(self, op: Op, index: Index) -> Value:
        found = contraction(self.program, op)
        sizes: dict[str, Vector] = {}
        for name, letters in found.operands:
            for letter, size in zip(letters, self.program.types[name].shape, strict=True):
                if letter not in sizes or set(sizes[letter]) == {1}:
                    sizes[letter] = size
        place = dict(zip(found.result, index, strict=True))
        over = [letter for letter in sizes if letter not in place]
        for letter in over:
            place[letter] = self.symbols.named((op.name, index, letter), sizes[letter])
        operands = []
        for name, letters in found.operands:
            wanted = broadcast_index(
                tuple(place[letter] for letter in letters), self.program.types[name].shape
            )
            operands.append(self._value(name, wanted))
        dtype = self._type(op.name)
        if dtype not in FLOATS:
            raise NoLoop(f"{op.target} of whole numbers")
        text = " * ".join(converted(value.text, value.dtype, "float32") for value in operands)
        dims = self._over_dims([place[letter] for letter in over], index)
        return self._over(op, text, dims, operands, dtype, "sum")

    def _sum(self, op: Op, index: Index) -> Value:
        shape = self.program.types[op.reads[0]].shape
        axes = summed_axes(op, len(shape))
        keeps = len(self.program.types[op.name].shape) == len(shape)
        rest = iter(index)
        inner = []
        for place, size in enumerate(shape):
            kept = next(rest) if keeps or place not in axes else "0"
            inner.append(self.symbols.named((op.name, index, place), size) if place in axes else kept)
        operand = self._value(op.reads[0], tuple(inner))
        dims = self._over_dims([inner[place] for place in axes], index)
        text = converted(operand.text, operand.dtype, "float32")
        return self._over(op, text, dims, [operand], self._type(op.name), op.base, [shape[a] for a in axes])

    def _over_dims(self, parts_of: list[str], index: Index) -> list[str]:
        """The dimensions that a sum runs over, which cannot be those of its result."""
        dims = [self.symbols.find(part) for part in parts_of if part != "0"]
        if set(dims) & self._dims(index) or len(set(dims)) < len(dims):
            raise NoLoop(_MIXES)
        return dims

    def _over(
        self, op: Op, text: str, dims: list[str], operands: list[Value], dtype: str, kind: str,
        sizes: list[Vector] | None = None,
    ) -> Value:  # fmt: skip
        """Of `text`, a sum or the like over `dims`."""
        length = " * ".join(map(self.size, sizes or ()))
        value = self._assigned(f"{op.name}_parts", parts(kind, text), "float32", operands)
        if dims:
            if not set(dims) <= value.dims:
                raise NoLoop("a sum over what does not vary along it")
            self.symbols.meet(value.dims)
            self.lines.tiles.add(value.dims)
            self.lines.reduced |= set(dims)
            rest = Value("", "", value.dims - set(dims), value.moves)
            value = self._assigned(f"{op.name}_over", along(kind, value.text, dims), "float32", [rest])
        return self._assigned(op.name, rounded(finished(kind, value.text, length), dtype), dtype, [value])

    def _loaded(self, name: str, index: Index) -> Value:
        typed = self.program.types.get(name)
        if typed is None or typed.dtype not in TL:
            raise NoLoop(f"{name} cannot be loaded")
        pointer = self.lines.tensors.setdefault(name, f"p_{name}")
        self.lines.loaded.append((name, index))
        at, more = self._address(pointer, typed, index)
        nothing = "0.0" if "float" in typed.dtype else "0"
        dims = self._dims(index)
        mask = f"{{mask {','.join(sorted(dims))}|{nothing}}}"
        text = f"tl.load({at}{f' + {more}' if more else ''}{mask})"
        wide = text if typed.dtype not in _NARROW else f"{text}.to(tl.float32)"
        wide = f"{text} != 0" if typed.dtype == "bool" else wide
        return self._assigned(f"{name}_in", wide, typed.dtype, [Value("", "", dims, bool(more))])

    def _store(self, name: str, index: Index, value: Value, lines: list[str]) -> None:
        self.lines.stored.append((name, index))
        dims = self._dims(index)
        at, more = self._address(f"out_{name}", self.loop.types[name], index)
        text = (
            value.text
            if value.dims == dims and value.dtype != "number"
            else self._spread(value, dims, "float32")
        )
        mask = f"{{mask {','.join(sorted(dims))}}}"
        kind = TL[self.loop.types[name].dtype]
        lines.append(f"tl.store({at}{f' + {more}' if more else ''}, {text}.to({kind}){mask})")

    def _address(self, pointer: str, typed: Typed, index: Index) -> tuple[str, str]:
        """A pointer that is worked out once, and what a step adds to it."""
        once, step = [], []
        for place, part in enumerate(index):
            if part != "0":
                steps = [self.size(size) for size in typed.shape[place + 1 :] if set(size) != {1}]
                term = " * ".join([held(part), *steps])
                (step if re.search(r"\bt\b", part) else once).append(term)
        if not once:
            return pointer, " + ".join(step)
        return self._line(
            self.lines.once, f"{pointer.removeprefix('p_')}_at", " + ".join([pointer, *once])
        ), " + ".join(step)

    def _assigned(self, wish: str, text: str, dtype: str, operands: list[Value]) -> Value:
        dims = frozenset(name for value in operands for name in value.dims)
        moves = any(value.moves for value in operands)
        if text.isidentifier():
            return Value(text, dtype, dims, moves)
        variable = self._line(self.lines.step if moves else self.lines.once, wish, text)
        return Value(variable, dtype, dims, moves)

    def _line(self, lines: list[str], wish: str, text: str) -> str:
        variable = wish
        while variable in self._names:
            variable = f"{wish}_{len(self._names)}"
        self._names.add(variable)
        lines.append(f"{variable} = {text}")
        return variable


def _replacing(later: dict[str, str]) -> list[str]:
    """Assignments of the states; at once where one takes what another held."""
    new = {name: text for name, text in later.items() if text != name}
    if any(text in later for text in new.values()):
        return [f"{', '.join(new)} = {', '.join(new.values())}"]
    return [f"{name} = {text}" for name, text in new.items()]


def _literal(value: object) -> str:
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f'float("{value}")'
    return repr(value)
