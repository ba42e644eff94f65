"""The lines of a kernel that walks a loop, and the variables in them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from agents.rewrite.loops.recurrence import NoLoop
from agents.rewrite.loops.symbols import Symbols
from agents.rewrite.pointwise import FLOATS, TL
from agents.rewrite.program import Typed
from agents.rewrite.views import Index, held

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


class Scribe:
    """Writes the lines. `size` writes a number of every workload as a parameter of the kernel or as it is."""

    def __init__(
        self,
        types: dict[str, Typed],
        symbols: Symbols,
        size: Callable[[tuple[Any, ...]], str],
        taken: set[str],
    ) -> None:
        self.types, self.symbols, self.size = types, symbols, size
        self.lines = Lines()
        self._names = {*taken, "t", "g", "lane"}

    def dims(self, index: Index) -> frozenset[str]:
        """The dimensions that an index speaks of."""
        found = frozenset(name for part in index for name in self.symbols.inside(part))
        self.lines.dims |= found
        return found

    def spread(self, value: Value, dims: frozenset[str], dtype: str) -> str:
        """As a tile over all of `dims`."""
        tile = f"{{tile {','.join(sorted(dims))}}}"
        kind = TL["float32" if dtype in FLOATS else dtype]
        if value.dtype == "number":
            return f"tl.full({tile}, {value.text}, {kind})"
        return f"tl.broadcast_to({value.text}, {tile})"

    def loaded(self, name: str, index: Index) -> Value:
        """What stands in memory at an index."""
        typed = self.types.get(name)
        if typed is None or typed.dtype not in TL:
            raise NoLoop(f"{name} cannot be loaded")
        pointer = self.lines.tensors.setdefault(name, f"p_{name}")
        self.lines.loaded.append((name, index))
        at, more = self._address(pointer, typed, index)
        nothing = "0.0" if "float" in typed.dtype else "0"
        dims = self.dims(index)
        mask = f"{{mask {','.join(sorted(dims))}|{nothing}}}"
        text = f"tl.load({at}{f' + {more}' if more else ''}{mask})"
        wide = text if typed.dtype not in _NARROW else f"{text}.to(tl.float32)"
        wide = f"{text} != 0" if typed.dtype == "bool" else wide
        return self.assigned(f"{name}_in", wide, typed.dtype, [Value("", "", dims, bool(more))])

    def store(self, name: str, index: Index, value: Value, lines: list[str]) -> None:
        """Among `lines`, one that puts a value where an output has this index."""
        self.lines.stored.append((name, index))
        dims = self.dims(index)
        at, more = self._address(f"out_{name}", self.types[name], index)
        text = (
            value.text
            if value.dims == dims and value.dtype != "number"
            else self.spread(value, dims, "float32")
        )
        mask = f"{{mask {','.join(sorted(dims))}}}"
        kind = TL[self.types[name].dtype]
        lines.append(f"tl.store({at}{f' + {more}' if more else ''}, {text}.to({kind}){mask})")

    def _address(self, pointer: str, typed: Typed, index: Index) -> tuple[str, str]:
        """A pointer that is worked out once, and what a step adds to it."""
        once: list[str] = []
        step: list[str] = []
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

    def assigned(self, wish: str, text: str, dtype: str, operands: list[Value]) -> Value:
        """A variable for `text`, once or in every step, as what it is made of is."""
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
