"""What the board would give: local times of an unlocked GPU of the board's kind, carried to the board's clock.

A time grows as (local clock / board clock) to some power, the kernel's elasticity. It is no constant: kernels
bound by bandwidth or by launches slow down less than the clock does, those bound by arithmetic as much as the
clock or more, because what bounds them draws power as well. Nine public results beside the same kernels on an
unlocked B200 (1965 against 1500 MHz) took 1.18 to 1.26 times as long where bandwidth binds and 1.34 to 1.50
where arithmetic does: elasticities 0.61 to 0.86, and 1.07 to 1.50. The ranges below hold them with little room,
and with nine kernels nothing better can be said; the prediction is an interval and says so.
"""

import math
from collections.abc import Mapping
from typing import NamedTuple

from guard.compile_report import Prediction
from leaderboard.score import ProblemScore, score_problem
from leaderboard.tables import Bounds
from tasks.errors import TaskError
from tasks.value import Value


class Elasticity(NamedTuple):
    low: float
    high: float


BANDWIDTH_BOUND = Elasticity(0.55, 0.90)
COMPUTE_BOUND = Elasticity(1.00, 1.55)


class LocalTime(NamedTuple):
    """Milliseconds, as measured: the ends of its interval are the time itself where there is none."""

    fast: float
    middle: float
    slow: float


class PredictedScore(Value):
    """A guess with its ends. It is no measurement, and no score of the board's."""

    problem: ProblemScore
    """At the middle of every range, with the ends of every workload's score."""
    clock_mhz: float
    board_clock_mhz: float
    unknown: int
    """Workloads of which it is not known what binds them: they have the widest range."""

    @property
    def interval(self) -> tuple[float, float]:
        """Lowest and highest score: all workloads at the slow end, or all at the fast one.

        One kernel's elasticities rise and fall together, so the ends are not averaged away.
        """
        return self.problem.interval or (self.problem.score, self.problem.score)

    def __str__(self) -> str:
        low, high = self.interval
        unknown = f", {self.unknown} workloads of unknown bound" if self.unknown else ""
        return (
            f"predicted for the board: {self.problem.score:.4f}, within {low:.4f} to {high:.4f} "
            f"({self.problem.denominator} workloads; SM clock {self.clock_mhz:.0f} MHz here, "
            f"{self.board_clock_mhz:.0f} there{unknown})"
        )


def predict_score(
    task: str,
    bounds: Mapping[str, Bounds],
    local: Mapping[str, LocalTime],
    shares: Mapping[str, float],
    clock_mhz: float,
    board_clock_mhz: float,
) -> PredictedScore:
    """The board's score of a problem, from `local` times of its workloads taken at `clock_mhz` under load.

    `shares` gives, of each workload, the share of its time that arithmetic binds, 0 to 1. `TaskError` when
    a clock is not positive.
    """
    if not (clock_mhz > 0 and board_clock_mhz > 0):
        raise TaskError("must be above 0 MHz", field="clock", mend="measure the SM clock under load")
    carried = {
        uuid: carry(time, shares.get(uuid), clock_mhz / board_clock_mhz) for uuid, time in local.items()
    }
    problem = score_problem(
        task,
        bounds,
        {uuid: time.middle for uuid, time in carried.items()},
        {uuid: (time.fast, time.slow) for uuid, time in carried.items()},
    )
    return PredictedScore(
        problem=problem,
        clock_mhz=clock_mhz,
        board_clock_mhz=board_clock_mhz,
        unknown=sum(uuid not in shares for uuid in local),
    )


def carry(time: LocalTime, share: float | None, clock_ratio: float) -> LocalTime:
    """`time` at the board's clock; `clock_ratio` is the local clock over the board's."""
    low, high = elasticity(share)
    ends = sorted(clock_ratio**power for power in (low, high))
    return LocalTime(
        fast=time.fast * ends[0], middle=time.middle * math.sqrt(ends[0] * ends[1]), slow=time.slow * ends[1]
    )


def elasticity(share: float | None) -> Elasticity:
    """By the share of the time that arithmetic binds; the whole range where that is not known."""
    if share is None:
        return Elasticity(BANDWIDTH_BOUND.low, COMPUTE_BOUND.high)
    if not 0 <= share <= 1:
        raise ValueError(f"a share lies between 0 and 1, not at {share}")
    low, high = (b + share * (c - b) for b, c in zip(BANDWIDTH_BOUND, COMPUTE_BOUND, strict=True))
    return Elasticity(low, high)


def shares_of(prediction: Prediction) -> dict[str, float]:
    """From the roofline of a candidate: 1 where arithmetic takes most of a workload, else 0."""
    return {w.uuid: 1.0 if w.bound_by == "compute" else 0.0 for w in prediction.workloads}
