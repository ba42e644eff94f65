"""What can be turned in a gated activation."""

from agents.templates.base import Knobs, KnobSpace


def gated_knobs() -> KnobSpace:
    """`tile` elements of the result a program, at most `columns` of them beside each other, `per_thread` a thread;
    whether what is read and written is `streamed` past the cache."""
    return KnobSpace(
        choices={
            "tile": (1024, 2048, 4096, 8192),
            "columns": (512, 1024, 2048, 4096),
            "per_thread": (8, 16, 32),
            "streamed": (False, True),
        },
        allows=_allows,
        # on an H200 a thread of eight beats longer ones by up to half where rows are few; streaming costs 5 to 8 %
        start=tuple(
            {"tile": tile, "columns": columns, "per_thread": 8, "streamed": streamed}
            for tile, columns, streamed in (
                (4096, 2048, False),
                (1024, 1024, False),
                (4096, 512, False),
                (2048, 1024, True),
            )
        ),
    )


def _allows(knobs: Knobs) -> bool:
    warps = int(knobs["tile"]) // (32 * int(knobs["per_thread"]))
    return int(knobs["columns"]) <= int(knobs["tile"]) and 1 <= warps <= 16
