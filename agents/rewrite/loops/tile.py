"""What of a loop one program of the grid works out: which dimensions are the grid's, and which its tile's.

What a step sums over has to be in one program; everything else can be in many. One of those dimensions, the one that
lies next to itself in memory most often, becomes the last axis of the tile, `lane`, so that neighbouring threads read
neighbouring places and sums run inside a thread.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents.rewrite.loops.body import Body
from agents.rewrite.loops.lines import Lines
from agents.rewrite.loops.recurrence import NoLoop, Recurrence
from agents.rewrite.loops.symbols import Symbols
from agents.rewrite.program import Vector

_PASSES = 20
_MOST = 4096
"""Values of a tile that one program can hold, 64 by 64, for one place of its last axis."""


@dataclass(frozen=True)
class Tile:
    """`grid`, `inner` and `lane` hold dimensions by name; `names` is what the source calls them."""

    lines: Lines
    sizes: dict[str, Vector]
    grid: tuple[str, ...]
    inner: tuple[str, ...]
    lane: str | None
    axes: dict[str, int]
    rank: int

    @property
    def names(self) -> dict[str, str]:
        named = {name: f"g{number}" for number, name in enumerate(self.grid)}
        named |= {name: f"k{number}" for number, name in enumerate(self.inner)}
        return named | ({self.lane: "lane"} if self.lane else {})

    def block(self, name: str) -> str:
        """The constant that holds how much of a dimension a tile covers."""
        return self.names[name].upper() + ("S" if name == self.lane else "")

    def masked(self, names: list[str]) -> list[str]:
        """Masks of those that a tile may be wider than."""
        return [f"{self.names[name]}_in" for name in names if name in self.axes and not self._fits(name)]

    def _fits(self, name: str) -> bool:
        size = self.sizes[name]
        return len(set(size)) == 1 and size[0] & (size[0] - 1) == 0

    def filled(self, line: str) -> str:
        """A line without texts in braces."""
        while (found := _BRACES.search(line)) is not None:
            line = line[: found.start()] + self._filled(found[1], found[2]) + line[found.end() :]
        names = self.names
        return _NAME.sub(lambda word: names.get(word[0], word[0]), line)

    def _filled(self, what: str, rest: str) -> str:
        dims, *more = rest.split("|")
        names = [name for name in dims.split(",") if name]
        if what == "axis":
            return str(self.axes[names[0]])
        if what == "tile":
            held = {self.axes[name]: self.block(name) for name in names if name in self.axes}
            sizes = ", ".join(held.get(axis, "1") for axis in range(self.rank))
            return f"({sizes},)" if self.rank == 1 else f"({sizes})"
        masks = " & ".join(self.masked(names))
        if what == "only":
            return f"tl.where({masks}, {more[0]}, {more[1]})" if masks else more[0]
        other = f", other={more[0]}" if more else ""
        return f", mask={masks}{other}" if masks else ""


_BRACES = re.compile(r"\{(\w+) ([^{}]*)\}")
_NAME = re.compile(r"\bd\d+\b")


def tiled(loop: Recurrence, size: Callable[[tuple[Any, ...]], str]) -> Tile:
    """`NoLoop` when the dimensions do not part so, or a tile would be too large."""
    symbols = Symbols()
    lines = _settled(loop, symbols, size)
    while _merged(symbols, lines):
        lines = _settled(loop, symbols, size)
    kept = [frozenset(symbols.find(name) for name in found) for found in _kept(loop, symbols)]
    free = [name for name in sorted(lines.dims, key=_number) if name not in lines.reduced]
    shared = [name for name in free if all(name in state for state in kept)]
    lane = _lane(shared or free, lines)
    inner = [
        n for n in sorted(lines.dims, key=_number) if n != lane and (n in lines.reduced or n not in shared)
    ]
    _check(inner, lines, symbols.sizes, loop)
    axes = _axes(inner, lines)
    rank = max(axes.values(), default=-1) + 1
    if lane is not None:
        axes[lane], rank = rank, rank + 1
    return Tile(
        lines,
        symbols.sizes,
        tuple(name for name in shared if name != lane),
        tuple(inner),
        lane,
        axes,
        max(rank, 1),
    )


def _settled(loop: Recurrence, symbols: Symbols, size: Callable[[tuple[Any, ...]], str]) -> Lines:
    for _ in range(_PASSES):
        symbols.changed = False
        lines = Body(loop, symbols, size).written()
        if not symbols.changed:
            return lines
    raise NoLoop("its dimensions cannot be told apart")


def _merged(symbols: Symbols, lines: Lines) -> bool:
    """Make two dimensions one that need not be, those first along which the same values are loaded."""
    pairs = [
        (one, other)
        for name, index in lines.loaded for again, place in lines.loaded if name == again
        for one, other in zip(index, place, strict=True)
    ]  # fmt: skip
    ordered = sorted(lines.dims, key=_number)
    for alike in (True, False):
        pairs += [
            (one, other) for one in ordered for other in ordered
            if one < other and ((one in lines.reduced) == (other in lines.reduced)) == alike
        ]  # fmt: skip
    for one, other in pairs:
        both = symbols.is_one(one) and symbols.is_one(other)
        if (
            both
            and symbols.find(one) != symbols.find(other)
            and symbols.may_be_same(symbols.find(one), symbols.find(other))
        ):
            symbols.same(one, other)
            return True
    return False


def _kept(loop: Recurrence, symbols: Symbols) -> list[set[str]]:
    return [
        {symbols.named((name, place), size) for place, size in enumerate(loop.types[name].shape)} - {"0"}
        for name in loop.states
    ]


def _lane(names: list[str], lines: Lines) -> str | None:
    last = [index[-1] for _, index in [*lines.loaded, *lines.stored] if index]
    return max(names, key=lambda name: (last.count(name), _number(name)), default=None)


def _check(inner: list[str], lines: Lines, sizes: dict[str, Vector], loop: Recurrence) -> None:
    for tile in lines.tiles:
        values = 1
        for name in tile & set(inner):
            if len(set(sizes[name][:3])) > 1:  # the first three differ in the length alone
                raise NoLoop("a step works over the whole length")
            values *= 1 << (max(sizes[name]) - 1).bit_length()
        if values > _MOST:
            raise NoLoop(f"a step needs {values} values at once, more than a program's registers hold")


def _axes(inner: list[str], lines: Lines) -> dict[str, int]:
    """Dimensions that never stand in one value share an axis."""
    axes: dict[str, int] = {}
    for name in inner:
        met = {axes[other] for tile in lines.tiles if name in tile for other in tile if other in axes}
        axes[name] = next(axis for axis in range(len(inner)) if axis not in met)
    return axes


def _number(name: str) -> int:
    return int(name[1:])
