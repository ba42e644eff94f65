"""What can be turned in a gated activation."""

from agents.templates.base import Knobs, KnobSpace

_MOST_A_THREAD = 32
"""Elements of each source: what a thread keeps in flight, two 16-byte loads of each already being plenty."""


def gated_knobs() -> KnobSpace:
    """`tile` elements of the result a program, at most `columns` of them beside each other, `per_thread` a thread;
    whether what is read and written is `streamed` past the cache."""
    return KnobSpace(
        choices={
            "tile": (1024, 2048, 4096, 8192),
            "columns": (512, 1024, 2048, 4096),
            "per_thread": (8, 16, 32),
            "streamed": (True, False),
        },
        allows=_allows,
        start=tuple(
            {"tile": tile, "columns": columns, "per_thread": per_thread, "streamed": streamed}
            for tile, columns, per_thread, streamed in (
                (4096, 1024, 16, True),
                (2048, 1024, 16, True),
                (2048, 1024, 8, True),
                (4096, 2048, 16, False),
            )
        ),
    )


def _allows(knobs: Knobs) -> bool:
    warps = int(knobs["tile"]) // (32 * int(knobs["per_thread"]))
    return int(knobs["columns"]) <= int(knobs["tile"]) and 1 <= warps <= 16
