"""What can be turned in a rotary embedding."""

from agents.templates.base import Knobs, KnobSpace


def rope_knobs() -> KnobSpace:
    """`pairs` of elements a program, of whole heads; pairs a thread (`per_thread`); whether heads are `streamed`
    past the cache, which leaves it to the angles."""
    return KnobSpace(
        choices={"pairs": (512, 1024, 2048, 4096), "per_thread": (4, 8, 16), "streamed": (False, True)},
        allows=_allows,
        start=tuple(
            {"pairs": pairs, "per_thread": per_thread, "streamed": streamed}
            for pairs, per_thread, streamed in (
                (2048, 8, False), (1024, 4, False), (1024, 8, False), (2048, 8, True),
            )
        ),
    )  # fmt: skip


def _allows(knobs: Knobs) -> bool:
    return 1 <= int(knobs["pairs"]) // (32 * int(knobs["per_thread"])) <= 16
