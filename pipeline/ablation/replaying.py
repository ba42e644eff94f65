"""One search on recorded times: how many evaluations until it is near the best."""

from collections.abc import Sequence

from pipeline.ablation.ground import Ground
from pipeline.ablation.strategies import Strategy

FREE = frozenset({"does not compile", "compiler died"})
"""What a build refuses costs an attempt and no candidate, as in a search."""


def evaluations_to(
    ground: Ground,
    others: Sequence[Ground],
    strategy: Strategy,
    seed: int,
    most: int,
    shares: Sequence[float],
) -> list[int | None]:
    """For each share of the best, after how many evaluations a setting reached it; None: not within `most`."""
    searching = strategy(ground, others, seed)
    found: list[int | None] = [None] * len(shares)
    spent = 0
    while spent < most and None in found:
        knobs = searching.ask()
        if knobs is None:
            break
        record = ground.record(knobs)
        spent += record.failure not in FREE
        if record.ms is None:
            searching.tell_rejected(knobs)
            continue
        searching.tell(knobs, record.ms)
        reached = ground.best_ms / record.ms
        found = [
            spent if before is None and reached >= share else before
            for before, share in zip(found, shares, strict=True)
        ]
    return found
