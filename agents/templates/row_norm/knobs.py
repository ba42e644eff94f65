"""What can be turned in a row-wise norm, and what makes no sense."""

from agents.templates.base import Knob, Knobs, KnobSpace
from agents.templates.row_norm.form import RowNorm

_WARP = 32
_REGISTERS = 65536
"""Of a multiprocessor; a program must not want more, and a thread cannot have more than 255."""
_OTHER_REGISTERS = 32
"""A thread's addresses, masks and sums, besides the values of its tile."""
_MOST_STAGED_BYTES = 200 * 1024
"""Of shared memory; Hopper and Blackwell have 227 KiB for a program."""


def row_norm_knobs(norm: RowNorm) -> KnobSpace:
    """Knobs: `block` columns at a time (a whole row when it is long enough), `rows` of a tile, `warps`, whether
    the grid is `persistent`, pipeline `stages` of the loops, and whether rows are `streamed` past the cache."""
    whole = _power_of_two_from(norm.longest)
    blocks = sorted({whole, *(block for block in (512, 1024, 2048, 4096) if block < whole)})

    def allows(knobs: Knobs) -> bool:
        return _makes_sense(knobs, whole) and _fits(knobs, norm, whole)

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
    """No stages without a loop, few rows where a row is many blocks, loads of 16 bytes a thread."""
    is_looped = int(knobs["block"]) < whole
    if int(knobs["stages"]) > 1 and not (is_looped or knobs["persistent"]):
        return False
    if is_looped and int(knobs["rows"]) > 4:
        return False
    return _values_a_thread(knobs) >= 4 or knobs["warps"] == 1


def _fits(knobs: Knobs, norm: RowNorm, whole: int) -> bool:
    """The tile in registers, twice or with its sums; what waits in stages in shared memory."""
    is_looped = int(knobs["block"]) < whole
    sources = 2 if norm.added else 1
    copies = sources + 2 if is_looped else 2
    wanted = _values_a_thread(knobs) * copies + _OTHER_REGISTERS
    staged = int(knobs["block"]) * int(knobs["rows"]) * norm.bytes_read * int(knobs["stages"])
    return wanted <= min(255, _REGISTERS // (_WARP * int(knobs["warps"]))) and (
        knobs["stages"] == 1 or staged <= _MOST_STAGED_BYTES
    )


def _values_a_thread(knobs: Knobs) -> int:
    return int(knobs["block"]) * int(knobs["rows"]) // (_WARP * int(knobs["warps"]))


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
