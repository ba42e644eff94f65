"""What can be turned in an fp8 expert layer."""

from dataclasses import dataclass

from agents.templates.base import Knob, KnobSpace


@dataclass(frozen=True)
class Tile:
    """Of one product, from a text such as `64x8x4`."""

    columns: int
    warps: int
    stages: int

    @classmethod
    def read(cls, text: str) -> "Tile":
        return cls(*map(int, text.split("x")))


def moe_fp8_knobs() -> KnobSpace:
    """Knobs: `rows` of a tile where experts have `many_from` slots or more on average, and 64 below; of each
    product `columns x warps x stages`, warps for tiles of many rows. What is between the products is quantised
    with a scale for as many elements as `into` has columns."""
    first: dict[str, Knob] = {"rows": 128, "many_from": 96, "into": "64x8x4", "out_of": "128x8x4"}
    return KnobSpace(
        choices={
            "rows": (64, 128),
            "many_from": (48, 96, 192),
            "into": ("64x8x4", "64x8x3", "64x4x4", "128x8x3"),
            "out_of": ("128x8x4", "64x8x4", "64x4x4", "128x4x3"),
        },
        allows=lambda knobs: knobs["rows"] == 128 or knobs["many_from"] == 96,
        start=(
            first,
            {**first, "into": "64x8x3", "many_from": 48},
            {**first, "into": "64x4x4", "out_of": "64x4x4", "rows": 64},
        ),
    )
