"""What can be turned in the backward pass of a row-wise norm."""

from agents.templates.base import Knobs, KnobSpace
from agents.templates.rows_backward.form import RowsBackward


def rows_backward_knobs(form: RowsBackward) -> KnobSpace:
    """`tile` values of as many rows as that makes, `per_thread` of them a thread; `programs` a multiprocessor where
    the gain's gradient is wanted, each of which leaves one partial sum; pipeline `stages` of their loop."""
    whole = max(256, 1 << (form.longest - 1).bit_length())
    tiles = tuple(t for t in (1024, 2048, 4096, 8192, 16384, 32768) if t >= whole) or (whole,)
    choices = {"tile": tiles[:3], "per_thread": (8, 16, 32), "programs": (1, 2, 4), "stages": (1, 2, 3)}

    def allows(knobs: Knobs) -> bool:
        warps = int(knobs["tile"]) // (32 * int(knobs["per_thread"]))
        staged = int(knobs["tile"]) * 4 * int(knobs["stages"]) * int(knobs["programs"])
        return 1 <= warps <= 32 and (knobs["stages"] == 1 or staged <= 200 * 1024)

    wanted = tuple(
        {"tile": tile, "per_thread": per_thread, "programs": programs, "stages": stages}
        for tile in choices["tile"][:2]
        for per_thread, programs, stages in ((16, 2, 1), (8, 2, 1), (16, 2, 2), (16, 4, 1), (32, 2, 1))
    )
    return KnobSpace(
        choices=choices, allows=allows, start=tuple(knobs for knobs in wanted if allows(knobs))[:5]
    )
