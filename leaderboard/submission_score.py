"""The score of a submission, and in words why it may not be what the board would say."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from guard.statistics.hodges_lehmann import shifts_of_pairs
from guard.verdict import Measurement
from leaderboard.differences import CLOCK_SHARE
from leaderboard.predict import LocalTime, PredictedScore, predict_score, shares_of
from leaderboard.score import ProblemScore, score_problem
from leaderboard.snapshot import Medians, WorkloadTimes, process_medians
from leaderboard.tables import Bounds, TimeTable, bounds_for
from submissions.submission import Submission
from tasks.gpu import load_gpu
from tasks.trace import Status
from tasks.value import Value

_INTERVAL_ALPHA = 0.025


class SubmissionScore(Value):
    submission: str
    """Digest; empty for a problem without a submission."""
    problem: ProblemScore
    remarks: tuple[str, ...]
    """Why the figure is not one of the board's, and what counted 0 for which cause."""
    as_on_the_board: bool = False
    """Measured on the board's kind of GPU, at the board's clock under load."""
    predicted: PredictedScore | None = None
    """Where it was measured on the board's kind of GPU at another clock than the board locks it to."""

    def lines(self) -> tuple[str, ...]:
        interval = self.problem.interval
        ends = f"  95 % interval {interval[0]:.6f} to {interval[1]:.6f}" if interval else None
        audits = (f"  audit: {audit}" for audit in self.problem.audits)
        guess = [f"  {self.predicted}"] if self.predicted else []
        return (
            str(self.problem),
            *([ends] if ends else []),
            *audits,
            *guess,
            *(f"  {r}" for r in self.remarks),
        )


class Timed(NamedTuple):
    """One workload's process medians, and the 95 % interval of its latency; None for too few processes."""

    times: WorkloadTimes
    interval_ms: tuple[float, float] | None


def timed_workloads(submission: Submission) -> dict[str, Timed]:
    """By the uuid of every workload that was timed."""
    by_workload: dict[str, list[Measurement]] = {}
    for measurement in submission.measurements:
        by_workload.setdefault(measurement.workload, []).append(measurement)
    found = {uuid: t for uuid, own in by_workload.items() if (t := process_medians(own, uuid)) is not None}
    if len({len(times.medians_ms) for times in found.values()}) == 1:
        # as it nearly always is: one call for all of them
        intervals = _intervals_ms([times.medians_ms for times in found.values()])
        return {uuid: Timed(found[uuid], ends) for uuid, ends in zip(found, intervals, strict=True)}
    return {uuid: Timed(times, median_interval_ms(times.medians_ms)) for uuid, times in found.items()}


def score_submission(
    submission: Submission,
    t_sol: TimeTable,
    t_b: TimeTable,
    timed: Mapping[str, Timed] | None = None,
) -> SubmissionScore:
    """By the official formula over every workload that the tables hold, with intervals where there are any.

    What was not accepted, was shrunk, or was timed on a CPU counts 0. `timed` is what `timed_workloads` says,
    for those who have it already. `TaskError` when the tables lack the task.
    """
    bounds = bounds_for(submission.evidence.task.name, t_sol, t_b)
    timed = timed_workloads(submission) if timed is None else timed
    latencies: dict[str, float | None] = {}
    intervals = {}
    verdict = submission.evidence.verdict
    if verdict.status == "accepted" and verdict.environment.kind == "cuda":
        for judged in verdict.workloads:
            if judged.uuid not in bounds or judged.uuid not in timed:
                continue
            if judged.accepted and judged.status is Status.PASSED:
                latencies[judged.uuid] = judged.latency_ms
                interval = timed[judged.uuid].interval_ms
                if interval is not None:
                    intervals[judged.uuid] = interval
    problem = score_problem(submission.evidence.task.name, bounds, latencies, intervals)
    hardware = t_sol.provenance.hardware
    return SubmissionScore(
        submission=submission.digest,
        problem=problem,
        remarks=(*_pricing_remark(t_sol), *_remarks(submission, bounds, hardware)),
        as_on_the_board=clock_beside_board(submission, hardware) == 1.0,
        predicted=_predicted(submission, bounds, problem, intervals, hardware),
    )


def no_submission(task: str, t_sol: TimeTable, t_b: TimeTable) -> SubmissionScore:
    """A problem that nothing was submitted for: 0 over all its workloads."""
    problem = score_problem(task, bounds_for(task, t_sol, t_b), {})
    remarks = (*_pricing_remark(t_sol), "nothing was submitted for it")
    return SubmissionScore(submission="", problem=problem, remarks=remarks)


def median_interval_ms(medians: Medians) -> tuple[float, float] | None:
    """Exact 95 % interval of a workload's latency, from the medians of its processes; None for too few.

    By signed ranks of their logarithms (Walsh averages), which supposes processes to be symmetric about it.
    """
    return _intervals_ms([medians])[0]


def _intervals_ms(medians: Sequence[Medians]) -> list[tuple[float, float] | None]:
    """Of several workloads timed in equally many processes."""
    lows, highs, _ = shifts_of_pairs(np.log(np.asarray(medians))).interval(_INTERVAL_ALPHA)
    ends = zip(lows.tolist(), highs.tolist(), strict=True)
    return [(math.exp(low), math.exp(high)) if math.isfinite(high - low) else None for low, high in ends]


def _predicted(
    submission: Submission,
    bounds: Mapping[str, Bounds],
    problem: ProblemScore,
    intervals: Mapping[str, tuple[float, float]],
    hardware: str,
) -> PredictedScore | None:
    """None on another kind of GPU, at the board's own clock, and where the clock under load is not known."""
    ratio = clock_beside_board(submission, hardware)
    if ratio is None or ratio == 1.0:
        return None
    local = {}
    for scored in problem.workloads:
        if scored.latency_ms is not None:
            low, high = intervals.get(scored.workload, (scored.latency_ms, scored.latency_ms))
            local[scored.workload] = LocalTime(low, scored.latency_ms, high)
    shares: dict[str, float] = {}
    for prediction in submission.evidence.predictions:
        shares |= shares_of(prediction)
    board = _board_clock_mhz(hardware) or 0
    return predict_score(problem.task, bounds, local, shares, ratio * board, board)


def clock_beside_board(submission: Submission, hardware: str) -> float | None:
    """The SM clock under load over the board's, exactly 1 where they are the same within a percent.

    None on another kind of GPU, and where one of the two is not known.
    """
    environment = submission.evidence.verdict.environment
    clock = environment.clocks.get("sm_during_mhz")
    if clock is None or hardware not in environment.device.split():
        return None
    board = _board_clock_mhz(hardware)
    if board is None:
        return None
    return 1.0 if abs(clock / board - 1) <= CLOCK_SHARE else clock / board


@cache
def _board_clock_mhz(hardware: str) -> float | None:
    """Read once: thousands of submissions are scored against one board."""
    return load_gpu(hardware).clocks_mhz.locked_sm


def _pricing_remark(t_sol: TimeTable) -> Iterator[str]:
    if t_sol.provenance.pricing == "physical":
        yield f"T_SOL by physical pricing ({t_sol.provenance.source}): a score above 1 counts 1, and is to be audited"
    elif t_sol.provenance.measured_by == "ours":
        yield f"T_SOL by published pricing, worked out here ({t_sol.provenance.source})"


def _remarks(submission: Submission, bounds: Mapping[str, object], hardware: str) -> Iterator[str]:
    evidence = submission.evidence
    device = evidence.verdict.environment
    if device.kind == "cpu":
        yield f"timed on a CPU ({device.device}): such times score nothing"
    elif hardware not in device.device.split():
        yield f"not a board score: measured on {device.device}, the tables are for {hardware}"
    elsewhere = [w.uuid for w in evidence.verdict.workloads if w.uuid not in bounds]
    if elsewhere:
        yield f"{len(elsewhere)} judged workloads are none of the problem's (scaled down): they score nothing"
    for reason in evidence.reasons:
        yield f"draft: {reason}"
