"""A second opinion where clocks wandered: both arms at the same clock. It shows and flags, and decides nothing."""

from collections.abc import Sequence

import numpy as np

from guard.comparison import Comparison, Outcome
from guard.duel_record import AtOneClock, Shard
from guard.statistics.clocks import arm_effect
from guard.statistics.experiment import Arms

Clocks = tuple[Sequence[float], Sequence[float]]
"""SM clock in MHz of every process of the baseline and of the candidate, in the order of their locations."""


def clocks_of(shards: Sequence[Shard]) -> Clocks:
    """Of the processes that `figures.paired_arms` takes, in its order."""
    clocks: tuple[list[float], list[float]] = ([], [])
    for shard in shards:
        both = shard.arm("A"), shard.arm("B")
        pairs = min(len(arm) for arm in both)
        for kept, records in zip(clocks, both, strict=True):
            kept.extend(record.conditions.sm_mhz for record in records[:pairs])
    return clocks


def at_one_clock(arms: Arms, clocks: Clocks) -> tuple[AtOneClock, ...]:
    """Candidate over baseline of every workload at the median clock; nothing where that would be a guess.

    Both arms must have been seen on either side of that clock: a candidate whose own power holds it at a lower one is
    slower for it, and no line through two clocks that never met says what it would be at the other's.
    """
    each = np.asarray([*clocks[0], *clocks[1]])
    if not each.size or not (each > 0).all():
        return ()
    common = float(np.median(each))
    if not all(min(arm) < common < max(arm) for arm in clocks):
        return ()
    candidate = np.repeat([False, True], [len(clocks[0]), len(clocks[1])])
    return tuple(
        AtOneClock(
            workload=workload,
            clock_mhz=common,
            ratio=float(np.exp(arm_effect([*baseline, *other], candidate, each, common))),
        )
        for workload, baseline, other in zip(arms.workloads, arms.baseline, arms.candidate, strict=True)
    )


def turns_round(comparison: Comparison, opinions: Sequence[AtOneClock]) -> bool:
    """Whether what is called faster or slower is the other at one clock."""
    ratios = {opinion.workload: opinion.ratio for opinion in opinions}
    return any(
        (w.outcome is Outcome.SLOWER and ratios.get(w.workload, w.ratio) < 1)
        or (w.outcome is Outcome.FASTER and ratios.get(w.workload, w.ratio) > 1)
        for w in comparison.workloads
    )
