"""What can be turned in a row-wise norm, and what makes no sense."""

from dataclasses import dataclass

from agents.templates.base import Knob, Knobs, KnobSpace
from agents.templates.row_norm.form import RowNorm

_WARP = 32
_MOST_WARPS = 16
_REGISTERS = 65536
"""Of a multiprocessor; a program must not want more, and a thread cannot have more than 255."""
_OTHER_REGISTERS = 32
"""A thread's addresses, masks and sums, besides the values of its tile."""
_MOST_STAGED_BYTES = 200 * 1024
"""Of shared memory; Hopper and Blackwell have 227 KiB for a program."""


@dataclass(frozen=True)
class Tiling:
    """What the kernel makes of the knobs for rows of one length, when there are rows enough."""

    rows: int
    block: int
    warps: int

    @property
    def per_thread(self) -> int:
        """A thread's part of the tile."""
        return self.rows * self.block // (_WARP * self.warps)


def row_norm_knobs(norm: RowNorm) -> KnobSpace:
    """Knobs: `block` columns at a time (a whole row when it is long enough), values of a `tile` and of a thread
    (`per_thread`; rows and warps follow from these), whether the grid is `persistent`, pipeline `stages` of the
    loops, and whether rows are `streamed` past the cache."""
    whole = power_of_two_from(norm.longest)
    blocks = sorted({whole, *(block for block in (1024, 2048, 4096) if block < whole)}, reverse=True)

    def allows(knobs: Knobs) -> bool:
        return _makes_sense(knobs, norm) and _fits(knobs, norm)

    suggested = [knobs for knobs in _start(whole) if allows(knobs)]
    return KnobSpace(
        choices={
            "block": tuple(blocks),
            "tile": (512, 1024, 2048, 4096, 8192, 16384, 32768),
            "per_thread": (4, 8, 16, 32),
            "persistent": (False, True),
            "stages": (1, 2, 3),
            "streamed": (False, True),
        },
        allows=allows,
        start=tuple(_first_of_each_shape(suggested)),
    )


def tiling(knobs: Knobs, length: int) -> Tiling:
    block = min(int(knobs["block"]), power_of_two_from(length))
    rows = max(1, int(knobs["tile"]) // block)
    return Tiling(rows, block, max(1, min(_MOST_WARPS, rows * block // (_WARP * int(knobs["per_thread"])))))


def _makes_sense(knobs: Knobs, norm: RowNorm) -> bool:
    """No stages without a loop; few rows where a row is many blocks; no two settings that mean the same."""
    long, short = tiling(knobs, norm.longest), tiling(knobs, norm.shortest)
    is_looped = long.block < norm.longest
    if int(knobs["stages"]) > 1 and not (is_looped or knobs["persistent"]):
        return False
    if is_looped and long.rows > 4:
        return False
    tile_matters = int(knobs["tile"]) >= short.block or knobs["tile"] == 512
    return tile_matters and int(knobs["per_thread"]) >= long.per_thread


def _fits(knobs: Knobs, norm: RowNorm) -> bool:
    """The tile in registers, twice or with its sums; what waits in stages in shared memory."""
    tile, stages = tiling(knobs, norm.longest), int(knobs["stages"])
    sources = 2 if norm.added else 1
    copies = sources + 2 if tile.block < norm.longest else 2
    registers = min(255, _REGISTERS // (_WARP * tile.warps))
    staged = tile.block * tile.rows * norm.bytes_read * stages
    needed = tile.per_thread * copies + _OTHER_REGISTERS
    return needed <= registers and (stages == 1 or staged <= _MOST_STAGED_BYTES)


def _start(whole: int) -> tuple[Knobs, ...]:
    """Tiles of two long rows; of one; a persistent grid; long rows in blocks. Sixteen values a thread, or 32."""
    one, two = (max(2048, min(16384, rows * whole)) for rows in (1, 2))
    plain: dict[str, Knob] = {"block": whole, "persistent": False, "stages": 1, "streamed": False}
    shapes: tuple[dict[str, Knob], ...] = (
        {**plain, "tile": two},
        {**plain, "tile": one},
        {**plain, "tile": one, "persistent": True, "stages": 2},
        {**plain, "tile": 4096, "block": min(whole, 4096)},
    )
    return tuple({**shape, "per_thread": per_thread} for shape in shapes for per_thread in (16, 32))


def _first_of_each_shape(suggested: list[Knobs]) -> list[Knobs]:
    """Of settings that differ only in what a thread takes, the first."""
    shapes: dict[tuple[tuple[str, Knob], ...], Knobs] = {}
    for knobs in suggested:
        shapes.setdefault(tuple(sorted((k, v) for k, v in knobs.items() if k != "per_thread")), knobs)
    return list(shapes.values())


def power_of_two_from(size: int) -> int:
    return 1 << max(0, size - 1).bit_length()
