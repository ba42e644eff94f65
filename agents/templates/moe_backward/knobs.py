"""What can be turned in the backward pass of an expert layer."""

from dataclasses import dataclass

from agents.templates.base import Knob, Knobs, KnobSpace
from agents.templates.moe_backward.form import MoeBackward
from tasks.definition import DType

_MANY_FROM = 48
"""Slots an expert from which large tiles pay: where weights outweigh products, reading them once does."""
_SHARED_BYTES = 220 * 1024


@dataclass(frozen=True)
class Tile:
    """Of one product, from a text such as `128x64x8x3`."""

    columns: int
    depth: int
    warps: int
    stages: int

    @property
    def rows(self) -> int:
        """Of a tile of a matrix's gradient: 128 values a thread for two of them are the most that fit."""
        return min(128, 128 * 128 // self.columns)

    @classmethod
    def read(cls, text: str) -> "Tile":
        return cls(*map(int, text.split("x")))


def moe_backward_knobs(form: MoeBackward) -> KnobSpace:
    """Knobs: `rows` of a tile where experts have `many_from` slots or more on average, and 64 below; of each
    product `columns x depth x warps x stages`; the tiles beside each other of a gradient that a program makes
    (`span`); element types of the `operands` and of what a slot adds to its
    token (`parts`)."""
    wide = form.element == "float32"
    tiles = _WIDE if wide else _NARROW
    first: dict[str, Knob] = {
        **{name: choices[0] for name, choices in tiles.items()},
        "rows": 128,
        "many_from": _MANY_FROM,
        "span": 16,
        "operands": "float16" if wide else form.element,
        "parts": form.element,
    }
    other: dict[str, Knob] = {name: choices[1] for name, choices in tiles.items()}
    small: dict[str, Knob] = {name: choices[2] for name, choices in tiles.items()}
    return KnobSpace(
        choices={
            "rows": (64, 128),
            "many_from": (_MANY_FROM, 192),
            **tiles,
            "span": (1, 4, 16),
            "operands": ("float16", "float32") if wide else (form.element,),
            "parts": ("float32",) if wide else (form.element, "float32"),
        },
        allows=lambda knobs: _allows(knobs, form),
        start=(
            first,
            first | other,
            first | {"forward": other["forward"], "outer": other["outer"], "span": 4},
            first | {"rows": 64} | small,
            first | {"span": 1},
        ),
    )


_NARROW = {
    "forward": ("128x64x8x3", "64x64x4x3", "128x32x8x4", "64x64x8x3"),
    "inner": ("256x32x8x4", "128x64x8x4", "128x64x4x3", "256x64x8x3"),
    "to_token": ("256x32x8x4", "128x64x8x3", "128x64x4x2", "256x32x8x3"),
    "outer": ("128x64x8x3", "128x32x8x3", "64x64x4x3", "64x64x8x3"),
}
_WIDE = {
    "forward": ("64x32x8x3", "128x32x8x3", "64x32x4x3", "64x32x8x4"),
    "inner": ("128x32x8x3", "64x32x8x4", "64x32x4x3", "128x32x8x4"),
    "to_token": ("128x32x8x3", "64x32x8x4", "64x32x4x3", "128x32x8x2"),
    "outer": ("128x64x8x2", "128x32x8x3", "64x64x4x2", "64x64x8x3"),
}
"""Of matrices that are narrow already, and of fp32: the plain choice, another, and one for tiles of 64 rows first."""
PRODUCTS = tuple(_NARROW)


def _allows(knobs: Knobs, form: MoeBackward) -> bool:
    """What is staged fits into shared memory; one number of `many_from` where all tiles have 64 rows."""
    rows, matrix = int(knobs["rows"]), DType(form.element).bytes
    operand = DType(str(knobs["operands"])).bytes
    tiles = {name: Tile.read(str(knobs[name])) for name in PRODUCTS}
    needs = {
        "forward": rows * operand + 2 * tiles["forward"].columns * matrix,
        "inner": rows * operand + tiles["inner"].columns * matrix,
        "to_token": 2 * (rows * operand + tiles["to_token"].columns * matrix),
        "outer": operand * (2 * tiles["outer"].rows + tiles["outer"].columns),
    }
    fits = all(tile.stages * tile.depth * needs[name] <= _SHARED_BYTES for name, tile in tiles.items())
    return fits and (rows > 64 or knobs["many_from"] == _MANY_FROM)
