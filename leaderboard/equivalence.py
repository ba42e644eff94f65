"""Two lists of process medians for each workload: the same within a margin, outside it, or not to be told.

Every workload is asked three things by exact rank tests, each family adjusted by Holm over the workloads: is
it the same within the margin (two one-sided tests), is it slower, is it faster. A direction counts only when
the estimate lies outside the margin too: sessions differ by a little, and a sure 0.4 % is no finding.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import exp, log1p
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import Field

from guard.statistics.arrays import Floats
from guard.statistics.equivalence import equivalence_p
from guard.statistics.hodges_lehmann import shifts_between
from guard.statistics.multiplicity import holm
from guard.statistics.rank_tests import mann_whitney_greater, smallest_p
from guard.statistics.spread import robust_spread
from tasks.value import Value

Share = Annotated[float, Field(gt=0, lt=1)]
_INTERVAL_ALPHA = 0.025
"""Off each end: intervals are shown at 95 %."""


class Answer(StrEnum):
    """Of a workload, and of the whole; only the first means that it holds."""

    REPRODUCED = "REPRODUCED"
    FASTER = "FASTER"
    SLOWER = "SLOWER"
    INCONCLUSIVE = "INCONCLUSIVE"
    POWER_CAPPED = "POWER_CAPPED"
    """Not the same, and a power cap was seen: the cap may have been another one, so no direction is claimed."""
    NOT_COMPARABLE = "NOT COMPARABLE"
    REJECTED = "REJECTED"
    """The guard does not accept the candidate any more; its times are nobody's business."""


class Margins(Value):
    """How much two sets of times may differ and still be the same, by what is compared."""

    same_card: Share = 0.02
    ratios: Share = 0.03
    """Another card of the kind, times over those of the sentinel kernels."""
    another_card: Share = 0.10
    """Another card of the kind without sentinels: whole cards differ by 8 % on average (Sinha 2022)."""
    wall_clock: Share = 0.25
    """A CPU's wall clock, which decides nothing: it shows that the path works."""
    equivalence_alpha: Share = 0.05
    direction_alpha: Share = 0.01
    smallest_change: Share | None = None
    """On the same card, from where on a sure change is a finding; None: from the margin on."""
    resolution_ms: Annotated[float, Field(ge=0)] = 0.0
    """On the same card no margin is smaller than this is of a workload's time."""


class Pair(NamedTuple):
    """Logarithms of one workload's process medians: those of the snapshot, and the new ones."""

    then: Sequence[float]
    now: Sequence[float]


class Bounds(NamedTuple):
    """How far from the old times the new ones may be, and from where on a sure change is a finding."""

    same: float
    finding: float


class WorkloadHolding(Value):
    """Ratios are new over old; p are Holm-adjusted over the workloads that were compared."""

    uuid: str
    answer: Answer
    ratio: float
    """Hodges-Lehmann estimate."""
    low: float | None
    """Exact 95 % interval; None when so few processes give none."""
    high: float | None
    margin: float
    p_same: float
    p_slower: float
    p_faster: float
    processes: tuple[int, int]
    """Then and now."""
    spread: float
    """Robust standard deviation between processes, relative."""
    then_ms: float
    now_ms: float
    """Medians over processes, of the times themselves whatever was compared."""

    def __str__(self) -> str:
        interval = "no interval" if self.low is None else f"[{self.low:.4f}, {self.high:.4f}]"
        return (
            f"{self.uuid}: {self.answer} (margin {self.margin:.0%}), ratio {self.ratio:.4f} {interval}, "
            f"{self.then_ms:.6g} -> {self.now_ms:.6g} ms, P {self.processes[0]} v {self.processes[1]}, "
            f"spread {self.spread:.2%}"
        )


def compare_pairs(
    pairs: Mapping[str, Pair], margin: float, rule: Margins, shift: float = 0.0, power_capped: bool = False
) -> tuple[WorkloadHolding, ...]:
    """Each workload's answer. `shift` is the logarithm by which the new arm is moved before it is compared:
    what the machine itself is slower by."""
    if not pairs:
        return ()
    bounds = [bounds_of(pair, margin, rule) for pair in pairs.values()]
    arms = [(np.asarray(p.then, np.float64), np.asarray(p.now, np.float64) - shift) for p in pairs.values()]
    same = holm(
        [float(equivalence_p(now, then, b.same)) for (then, now), b in zip(arms, bounds, strict=True)]
    )
    slower = holm([float(mann_whitney_greater(now, then)) for then, now in arms])
    faster = holm([float(mann_whitney_greater(then, now)) for then, now in arms])
    return tuple(
        _workload(uuid, *arms[i], (same[i], slower[i], faster[i]), bounds[i], rule, shift, power_capped)
        for i, uuid in enumerate(pairs)
    )


def bounds_of(pair: Pair, margin: float, rule: Margins) -> Bounds:
    """Of one workload. Where the timer's resolution makes the margin, nothing smaller is a finding."""
    resolved = min(0.5, rule.resolution_ms / exp(float(np.median(pair.then))))
    if rule.smallest_change is None or resolved > margin:
        return Bounds(max(margin, resolved), max(margin, resolved))
    return Bounds(margin, rule.smallest_change)


def too_few(then: int, now: int, workloads: int, rule: Margins) -> bool:
    """Whether Holm's first step could never reject with so few processes, whatever they measured."""
    least = smallest_p(then, now)
    return least * workloads > min(rule.equivalence_alpha, rule.direction_alpha)


def _workload(
    uuid: str,
    then: Floats,
    now: Floats,
    p: tuple[float, float, float],
    bounds: Bounds,
    rule: Margins,
    shift: float,
    power_capped: bool,
) -> WorkloadHolding:
    shifts = shifts_between(now, then)
    low, high, _ = shifts.interval(_INTERVAL_ALPHA)
    centre = float(shifts.centre)
    spread = float(robust_spread(then, now)) if min(then.size, now.size) > 1 else 0.0
    answer = _answer(centre, p, bounds, rule)
    if power_capped and answer is not Answer.REPRODUCED:
        answer = Answer.POWER_CAPPED
    return WorkloadHolding(
        uuid=uuid,
        answer=answer,
        ratio=exp(centre),
        low=float(np.exp(low)) if np.isfinite(low) else None,
        high=float(np.exp(high)) if np.isfinite(high) else None,
        margin=bounds.same,
        p_same=float(p[0]),
        p_slower=float(p[1]),
        p_faster=float(p[2]),
        processes=(then.size, now.size),
        spread=spread,
        then_ms=float(np.exp(np.median(then))),
        now_ms=float(np.exp(np.median(now + shift))),
    )


def _answer(centre: float, p: tuple[float, float, float], bounds: Bounds, rule: Margins) -> Answer:
    same, slower, faster = p
    finding = log1p(bounds.finding)
    if slower <= rule.direction_alpha and centre >= finding:
        return Answer.SLOWER
    if faster <= rule.direction_alpha and centre <= -finding:
        return Answer.FASTER
    if same <= rule.equivalence_alpha:
        return Answer.REPRODUCED
    return Answer.INCONCLUSIVE
