"""What becomes of a judged candidate: REJECT, KEEP, ACCEPT or REVERT, by statistics and never by an agent.

KEEP only when it is surely faster than the incumbent by the margin. Where each arm has enough processes, the
guard's own rank tests say so. A search has two processes a candidate, too few for any rank test; there the
spread between processes is taken from both arms and from what is known of the device, as in a moderated t-test
(Smyth 2004, Statistical Applications in Genetics and Molecular Biology 3, 3).
"""

import math
import statistics
from enum import StrEnum
from typing import NamedTuple

from guard.comparison import CannotReject, Rule
from guard.comparison import Outcome as Found
from guard.verdict import Measurement, ReasonCode, Verdict, deciding
from pipeline.ranking import latency_ms
from pipeline.run_folder import Outcome
from tasks.value import Value

RANK_TEST_AT = 10
"""Processes an arm from which on the guard's rank tests decide."""
GATE = frozenset({ReasonCode.PATH, ReasonCode.BUILD})
"""What is refused before the device is touched; it costs an attempt and no candidate."""


class Word(StrEnum):
    REJECT = "REJECT"
    """Refused at the gate, before the device."""
    KEEP = "KEEP"
    """Right, and surely faster than the incumbent by the margin: it is the incumbent now."""
    ACCEPT = "ACCEPT"
    """Right and near the best: a stepping stone."""
    REVERT = "REVERT"
    """Wrong, or slower: its agent goes back to the best."""


class Margins(Value):
    """All relative."""

    surely: float = 0.005
    """A KEEP is faster by at least this."""
    near: float = 0.05
    """An ACCEPT is slower by at most this."""
    alpha: float = 0.01
    """Chance of a KEEP that is not faster by the margin."""
    spread: float = 0.003
    """Standard deviation between processes that is expected of the device (spec: H200, official loop)."""
    spread_weight: float = 6.0
    """How many degrees of freedom that expectation is worth against what is seen."""


class Ruling(Value):
    word: Word
    ratio: float | None = None
    """Time of the candidate over the incumbent's; None when there is nothing to compare."""
    high: float | None = None
    """Its upper confidence bound; None for predictions, which have no noise and no proof."""
    why: str


MARGINS = Margins()


def rule_on(
    challenger: Outcome, incumbent: Outcome | None, by_measurement: bool, margins: Margins = MARGINS
) -> Ruling:
    """The ruling on `challenger`. `by_measurement`: by its times; otherwise by what is predicted for the target."""
    reason = challenger.verdict.reason
    if reason is not None:
        word = Word.REJECT if reason.code in GATE else Word.REVERT
        return Ruling(word=word, why=f"rejected ({reason.code})")
    if challenger.builds_for_target is False:
        return Ruling(word=Word.REVERT, why="right here, and does not build for the target")
    if incumbent is None:
        return Ruling(word=Word.KEEP, why="the first that is right")
    if by_measurement:
        return _by_times(challenger, incumbent, margins)
    return _by_prediction(challenger, incumbent, margins)


def _by_prediction(challenger: Outcome, incumbent: Outcome, margins: Margins) -> Ruling:
    new, old = challenger.predicted_ms, incumbent.predicted_ms
    if new is None:
        return Ruling(
            word=Word.ACCEPT if old is None else Word.REVERT, why="right; nothing is predicted of it"
        )
    if old is None:
        return Ruling(word=Word.KEEP, why="the first that is right and predicted")
    ratio = new / old if old > 0 else 1.0
    if ratio < 1 - margins.surely:
        return Ruling(word=Word.KEEP, ratio=ratio, why=f"predicted {1 - ratio:.1%} faster")
    return _not_kept(ratio, None, margins, "predicted")


def _by_times(challenger: Outcome, incumbent: Outcome, margins: Margins) -> Ruling:
    new, old = latency_ms(challenger.verdict), latency_ms(incumbent.verdict)
    if new is None or old is None:
        return Ruling(word=Word.ACCEPT, why="right; its times cannot be compared")
    if new / old > 1 + 2 * margins.near:
        return _not_kept(
            new / old, None, margins, "measured"
        )  # so far behind that no statistics will help it
    estimate = _estimate(_times(incumbent.verdict), _times(challenger.verdict), margins)
    if estimate is None:
        # without raw times nothing is sure, so nothing displaces the incumbent but by more than the near margin
        estimate = _Estimate(new / old, new / old * (1 + margins.near))
    if estimate.high < 1 - margins.surely:
        why = f"surely faster: {1 - estimate.ratio:.1%}, at least {1 - estimate.high:.1%}"
        return Ruling(word=Word.KEEP, ratio=estimate.ratio, high=estimate.high, why=why)
    return _not_kept(estimate.ratio, estimate.high, margins, "measured")


def _not_kept(ratio: float, high: float | None, margins: Margins, how: str) -> Ruling:
    if ratio <= 1 + margins.near:
        return Ruling(word=Word.ACCEPT, ratio=ratio, high=high, why=f"near the best: {how} x {ratio:.3f}")
    return Ruling(word=Word.REVERT, ratio=ratio, high=high, why=f"slower: {how} x {ratio:.3f}")


class _Estimate(NamedTuple):
    ratio: float
    high: float


def _times(verdict: Verdict) -> tuple[Measurement, ...]:
    """Those that latencies are taken from."""
    return tuple(m for w in verdict.workloads for m in deciding(verdict.measurements, w.uuid))


def _estimate(
    baseline: tuple[Measurement, ...], candidate: tuple[Measurement, ...], margins: Margins
) -> _Estimate | None:
    """Ratio and upper bound; None when the two were not timed in the same way."""
    if len({(m.timer, m.kind) for m in (*baseline, *candidate)}) != 1:
        return None
    old, new = _by_process(baseline), _by_process(candidate)
    if not old or not new or {len(some) for some in (*old, *new)} != {len(old[0])}:
        return None
    if min(len(old), len(new)) >= RANK_TEST_AT:
        return _by_ranks(baseline, candidate, margins)
    return _moderated([math.fsum(p) / len(p) for p in old], [math.fsum(p) / len(p) for p in new], margins)


def _by_process(measurements: tuple[Measurement, ...]) -> list[list[float]]:
    """Of every process, the log median time of each workload: the process is the sample."""
    found: dict[int, list[float]] = {}
    for m in measurements:
        middle = statistics.median(m.times_ms) if m.times_ms else 0.0
        if middle <= 0:
            return []
        found.setdefault(m.process, []).append(math.log(middle))
    return list(found.values())


def _by_ranks(
    baseline: tuple[Measurement, ...], candidate: tuple[Measurement, ...], margins: Margins
) -> _Estimate | None:
    from guard.statistics.experiment import compare_measurements

    rule = Rule(looks=(RANK_TEST_AT,), shares=(1.0,), alpha=margins.alpha, tau=margins.surely)
    try:
        overall = compare_measurements(baseline, candidate, rule).overall
    except (CannotReject, ValueError):
        return None
    # ranks say whether, the interval by how much; without the first the second is no proof
    is_sure = overall.outcome is Found.FASTER and overall.high is not None
    return _Estimate(overall.ratio, overall.high if is_sure and overall.high is not None else 1.0)


def _moderated(old: list[float], new: list[float], margins: Margins) -> _Estimate:
    """From the log geometric mean of each process. The prior's spread weighs as `spread_weight` observations."""
    from scipy.special import stdtrit

    difference = math.fsum(new) / len(new) - math.fsum(old) / len(old)
    freedom = margins.spread_weight + len(old) + len(new) - 2
    seen = sum(_squares(arm) for arm in (old, new))
    variance = (margins.spread_weight * margins.spread**2 + seen) / freedom
    error = math.sqrt(variance * (1 / len(old) + 1 / len(new)))
    return _Estimate(
        math.exp(difference), math.exp(difference + float(stdtrit(freedom, 1 - margins.alpha)) * error)
    )


def _squares(arm: list[float]) -> float:
    mean = math.fsum(arm) / len(arm)
    return math.fsum((x - mean) ** 2 for x in arm)
