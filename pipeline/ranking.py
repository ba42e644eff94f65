"""Which candidate is best: by what was measured, or, away from the target, by what is predicted."""

import math
from collections.abc import Iterable, Sequence

from guard.verdict import Verdict
from pipeline.run_folder import Outcome


def latency_ms(verdict: Verdict) -> float | None:
    """Geometric mean over the workloads of the official median; None when one of them has none."""
    return geometric_mean([workload.latency_ms for workload in verdict.workloads])


def geometric_mean(times: Sequence[float | None]) -> float | None:
    """None when there is nothing to average, or when a time is missing or no time at all."""
    if not times or any(time is None or time <= 0 for time in times):
        return None
    return math.exp(sum(math.log(time) for time in times if time) / len(times))


def ranked(outcomes: Iterable[Outcome], by_measurement: bool) -> list[Outcome]:
    """The accepted outcomes, best first, in the order judged where nothing tells them apart.

    `by_measurement`: by geometric mean latency. Otherwise by predicted time, then by fewer launches. A
    candidate that does not build for the target comes last: here it is right, there it is nothing.
    """
    accepted = [outcome for outcome in outcomes if outcome.verdict.status == "accepted"]
    return sorted(accepted, key=_by_latency if by_measurement else _by_prediction)


def leads(new: Outcome, leader: Outcome | None, by_measurement: bool) -> bool:
    """Whether an accepted outcome comes before what led so far, by the order of `ranked`."""
    key = _by_latency if by_measurement else _by_prediction
    return new.verdict.status == "accepted" and (leader is None or key(new) < key(leader))


def _by_latency(outcome: Outcome) -> tuple[float, ...]:
    time = latency_ms(outcome.verdict)
    return (math.inf if time is None else time,)


def _by_prediction(outcome: Outcome) -> tuple[float, ...]:
    return (
        outcome.builds_for_target is False,
        math.inf if outcome.predicted_ms is None else outcome.predicted_ms,
        math.inf if outcome.launches is None else outcome.launches,
    )
