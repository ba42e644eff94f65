"""The official score: how much of the way from the baseline to the speed of light, and out of how many."""

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from guard.verdict import Verdict
from leaderboard.tables import Bounds
from tasks.errors import TaskError
from tasks.trace import Status
from tasks.value import Value

AuditFlag = Literal["above-one", "outside-the-formula"]


def workload_score(latency_ms: float, t_sol_ms: float, t_b_ms: float) -> float:
    """S = 1 / (1 + (T - T_SOL) / (T_b - T_SOL)): 0.5 at the baseline, 1 at the speed of light, not clipped.

    Where T_b <= T_SOL it is 1 up to T_SOL and 0 beyond. Nearer to zero than T = 2 T_SOL - T_b the formula
    has a pole and changes sign; such a time is beyond physics, and the score is 0 (`audit_flag` names it).
    `ValueError` unless every time is positive and finite.
    """
    if not all(math.isfinite(t) and t > 0 for t in (latency_ms, t_sol_ms, t_b_ms)):
        raise ValueError(f"times must be positive: T {latency_ms}, T_SOL {t_sol_ms}, T_b {t_b_ms}")
    if t_b_ms <= t_sol_ms:
        return 1.0 if latency_ms <= t_sol_ms else 0.0
    denominator = 1.0 + (latency_ms - t_sol_ms) / (t_b_ms - t_sol_ms)
    return 1.0 / denominator if denominator > 0 else 0.0


def audit_flag(latency_ms: float, t_sol_ms: float, t_b_ms: float) -> AuditFlag | None:
    """What an auditor must see: a score above 1 means a wrong bound or a wrong time, never a triumph."""
    if latency_ms >= t_sol_ms:
        return None
    if t_b_ms > t_sol_ms and latency_ms <= 2 * t_sol_ms - t_b_ms:
        return "outside-the-formula"
    return "above-one"


def score_change_per_percent(latency_ms: float, t_sol_ms: float, t_b_ms: float) -> float:
    """What 1 % more latency costs: 0.01 * dS/dlnT. 0 where T_b <= T_SOL, as S is flat there but for a step."""
    if t_b_ms <= t_sol_ms:
        return 0.0
    score = workload_score(latency_ms, t_sol_ms, t_b_ms)
    return -0.01 * score**2 * latency_ms / (t_b_ms - t_sol_ms)


class WorkloadScore(Value):
    workload: str
    latency_ms: float | None
    """None when it failed or was not run: it counts 0."""
    t_sol_ms: float
    t_b_ms: float
    score: float
    low: float | None = None
    """Score at the slow and at the fast end of the latency's interval, where there is one."""
    high: float | None = None
    audit: AuditFlag | None = None


class ProblemScore(Value):
    """Arithmetic mean over all the problem's workloads, failed and missing ones as 0."""

    task: str
    workloads: tuple[WorkloadScore, ...]
    total: float
    """Numerator: sum of the workloads' scores."""
    scored: int
    """Workloads that have a latency."""
    denominator: int
    """All workloads of the problem."""

    @property
    def score(self) -> float:
        return self.total / self.denominator

    @property
    def latency_ms(self) -> float | None:
        """Geometric mean over the workloads that have one; the board shows it, it is not what is scored."""
        times = [w.latency_ms for w in self.workloads if w.latency_ms is not None]
        return math.exp(math.fsum(map(math.log, times)) / len(times)) if times else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Mean of the workloads' low and high ends; None unless every scored workload has an interval."""
        lows = [w.low for w in self.workloads if w.latency_ms is not None]
        highs = [w.high for w in self.workloads if w.latency_ms is not None]
        if not lows or None in lows or None in highs:
            return None
        ends = (math.fsum(end for end in side if end is not None) for side in (lows, highs))
        low, high = (end / self.denominator for end in ends)
        return low, high

    @property
    def audits(self) -> tuple[str, ...]:
        return tuple(f"{w.workload}: {w.audit}" for w in self.workloads if w.audit)

    def __str__(self) -> str:
        audits = f", {len(self.audits)} to audit" if self.audits else ""
        return (
            f"{self.task}: {self.score:.6f} = {self.total:.6f} / {self.denominator} workloads "
            f"({self.scored} scored, {self.denominator - self.scored} counted 0{audits})"
        )


class BenchmarkScore(Value):
    """Arithmetic mean over all the benchmark's problems, those without an answer as 0."""

    problems: tuple[ProblemScore, ...]
    total: float
    denominator: int
    """All problems of the benchmark, answered or not."""

    @property
    def score(self) -> float:
        return self.total / self.denominator

    def __str__(self) -> str:
        missing = self.denominator - len(self.problems)
        return (
            f"benchmark: {self.score:.6f} = {self.total:.6f} / {self.denominator} problems "
            f"({len(self.problems)} answered, {missing} counted 0)"
        )


def score_problem(
    task: str,
    bounds: Mapping[str, Bounds],
    latencies_ms: Mapping[str, float | None],
    intervals_ms: Mapping[str, tuple[float, float]] | None = None,
) -> ProblemScore:
    """Score one problem. `bounds` has every workload of the problem by uuid and sets the denominator.

    A workload that `latencies_ms` lacks, or has as None, counts 0; one that `bounds` lacks is a `TaskError`.
    `intervals_ms` gives (low, high) latencies where they are known.
    """
    if not bounds:
        raise TaskError(
            "has no workload with T_SOL and T_b", field=task, mend="give the tables that cover it"
        )
    unknown = sorted(set(latencies_ms) - set(bounds))
    if unknown:
        raise TaskError(
            f"workload {unknown[0]} has a latency but no T_SOL and T_b",
            field=task,
            mend="use the tables of the revision that was measured",
        )
    workloads = tuple(
        _score_workload(uuid, b, latencies_ms.get(uuid), (intervals_ms or {}).get(uuid))
        for uuid, b in bounds.items()
    )
    return ProblemScore(
        task=task,
        workloads=workloads,
        total=math.fsum(w.score for w in workloads),
        scored=sum(w.latency_ms is not None for w in workloads),
        denominator=len(workloads),
    )


def score_verdict(verdict: Verdict, bounds: Mapping[str, Bounds]) -> ProblemScore:
    """Score what the guard said: a rejected candidate and each workload not accepted and PASSED count 0."""
    latencies = {
        w.uuid: w.latency_ms if w.accepted and w.status is Status.PASSED else None for w in verdict.workloads
    }
    if verdict.status == "rejected":
        latencies = dict.fromkeys(latencies)
    return score_problem(verdict.task, bounds, latencies)


def score_benchmark(problems: Sequence[ProblemScore], denominator: int) -> BenchmarkScore:
    """Mean over the `denominator` problems of the benchmark (235 for all of SOL-ExecBench).

    `ValueError` when more problems, or one of them twice, are given.
    """
    names = {problem.task for problem in problems}
    if len(names) != len(problems) or len(problems) > denominator or denominator < 1:
        raise ValueError(f"{len(problems)} scores of {len(names)} problems for a benchmark of {denominator}")
    return BenchmarkScore(
        problems=tuple(problems), total=math.fsum(p.score for p in problems), denominator=denominator
    )


def tied(one: ProblemScore, other: ProblemScore) -> bool | None:
    """Whether two scores are closer than their intervals tell apart; None when an interval is missing."""
    if one.interval is None or other.interval is None:
        return None
    return one.interval[0] <= other.interval[1] and other.interval[0] <= one.interval[1]


def bounded_score(latency_ms: float, bounds: Bounds) -> float:
    """`workload_score`, and no more than 1 where T_SOL is physical: what is beyond it is a fault, not a feat."""
    sol, baseline = bounds.t_sol_ms, bounds.t_b_ms
    if bounds.is_physical and latency_ms <= sol:
        return 1.0
    return workload_score(latency_ms, sol, baseline)


def _score_workload(
    uuid: str, bounds: Bounds, latency_ms: float | None, interval_ms: tuple[float, float] | None
) -> WorkloadScore:
    sol, baseline = bounds.t_sol_ms, bounds.t_b_ms
    if latency_ms is None:
        return WorkloadScore(workload=uuid, latency_ms=None, t_sol_ms=sol, t_b_ms=baseline, score=0.0)
    # S falls as T rises, so the slow end of the latency is the low end of the score
    low, high = (
        (None, None)
        if interval_ms is None
        else (bounded_score(interval_ms[1], bounds), bounded_score(interval_ms[0], bounds))
    )
    return WorkloadScore(
        workload=uuid,
        latency_ms=latency_ms,
        t_sol_ms=sol,
        t_b_ms=baseline,
        score=bounded_score(latency_ms, bounds),
        low=low,
        high=high,
        audit=audit_flag(latency_ms, sol, baseline),
    )
