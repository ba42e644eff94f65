"""What can be turned in a row-wise norm, and what makes no sense."""

from agents.templates.base import Knob, Knobs, KnobSpace
from agents.templates.row_norm.form import RowNorm

_WARP = 32
_MOST_VALUES_A_THREAD = 64
"""Of fp32; a row that is kept whole takes that many registers, and as many again while it is scaled."""
_MOST_VALUES_A_TILE = 1 << 16


def row_norm_knobs(norm: RowNorm) -> KnobSpace:
    """Knobs: `block` columns at a time (a whole row when it is long enough), `rows` of a tile, `warps`, whether
    the grid is `persistent`, pipeline `stages` of the loops, and whether rows are `streamed` past the cache."""
    whole = _power_of_two_from(norm.longest)
    blocks = sorted({whole, *(block for block in (512, 1024, 2048, 4096) if block < whole)})

    def allows(knobs: Knobs) -> bool:
        return _makes_sense(knobs, whole)

    return KnobSpace(
        choices={
            "block": tuple(blocks),
            "rows": (1, 2, 4, 8, 16),
            "warps": (1, 2, 4, 8, 16),
            "persistent": (False, True),
            "stages": (1, 2, 3),
            "streamed": (False, True),
        },
        allows=allows,
        start=_start(whole),
    )


def _makes_sense(knobs: Knobs, whole: int) -> bool:
    block, rows, warps, stages = (int(knobs[name]) for name in ("block", "rows", "warps", "stages"))
    values = block * rows // (_WARP * warps)
    loops = block < whole or bool(knobs["persistent"])
    if stages > 1 and not loops:
        return False
    if block < whole and (rows > 4 or values > 32):
        return False
    # fewer than four values a thread cannot be loaded 16 bytes at a time
    enough = values >= 4 or (warps == 1 and values >= 1)
    return enough and values <= _MOST_VALUES_A_THREAD and block * rows <= _MOST_VALUES_A_TILE


def _start(whole: int) -> tuple[Knobs, ...]:
    """A tile of about 4,096 values and sixteen a thread; then persistent; then looped."""
    rows = max(1, min(16, 4096 // whole))
    warps = max(1, min(16, whole * rows // (_WARP * 16)))
    first: dict[str, Knob] = {
        "block": whole, "rows": rows, "warps": warps, "persistent": False, "stages": 1, "streamed": False,
    }  # fmt: skip
    looped: dict[str, Knob] = {**first, "block": min(whole, 2048), "rows": 1, "warps": 4}
    return first, {**first, "persistent": True, "stages": 2}, looped


def _power_of_two_from(size: int) -> int:
    return 1 << max(0, size - 1).bit_length()
