"""One submission as an entry of the page, and the sources that it shows."""

import hashlib
import math
from collections.abc import Sequence
from typing import Any

from guard.compile_report import Prediction
from guard.verdict import Measurement, WorkloadVerdict
from leaderboard.board.distribution import boxes
from leaderboard.board.entry import Entry, Foreseen, ShownKernel, ShownWorkload, Source
from leaderboard.score import ProblemScore
from leaderboard.submission_score import SubmissionScore, Timed, score_submission, timed_workloads
from leaderboard.tables import PublishedTimes
from submissions.evidence import Evidence
from submissions.submission import Submission
from tasks.solution import Solution

Sources = tuple[Source, ...]
_DIGITS = 6
"""Of a shown time: more than any of them means."""


def entry_of(submission: Submission, place: str, tables: PublishedTimes | None) -> tuple[Entry, Sources]:
    """The entry, scored where there are `tables`, and its sources."""
    evidence = submission.evidence
    verdict = evidence.verdict
    timed = timed_workloads(submission)
    scored = score_submission(submission, tables.t_sol, tables.t_b, timed) if tables else None
    by_workload: dict[str, list[Measurement]] = {}
    for measurement in submission.measurements:
        by_workload.setdefault(measurement.workload, []).append(measurement)
    workloads = tuple(
        _workload(w, by_workload.get(w.uuid, ()), timed.get(w.uuid), scored) for w in verdict.workloads
    )
    sources = sources_of(submission.solution)
    entry = Entry(
        digest=submission.digest,
        kind="submission",
        place=place,
        readiness=submission.readiness,
        reasons=evidence.reasons,
        agent=evidence.candidate.agent,
        strategy=evidence.candidate.strategy,
        languages=tuple(map(str, evidence.candidate.spec.languages)),
        target=evidence.target,
        environment=verdict.environment,
        judged_at=evidence.judged_at,
        command=evidence.command,
        verify=f"kernelarc verify {place}",
        precision=verdict.precision,
        protocol=evidence.protocol.name,
        processes=evidence.protocol.processes,
        evaluator=evidence.evaluator,
        flags=verdict.flags,
        advice=verdict.advice,
        lint=tuple(map(str, (*evidence.lint, *evidence.task.findings))),
        versions=evidence.versions,
        **_figures(scored.problem if scored else None),
        predicted=str(scored.predicted) if scored and scored.predicted else "",
        remarks=scored.remarks if scored else (),
        latency_ms=mean_latency_ms([w.latency_ms for w in workloads]),
        workloads=workloads,
        **_foreseen(evidence),
        kernels=_kernels(evidence),
        sources=tuple((source.path, source.digest) for source in sources),
    )
    return entry, sources


def sources_of(solution: Solution) -> Sources:
    """In the order of the solution."""
    return tuple(
        Source(source.path, source.content, hashlib.sha256(source.content.encode()).hexdigest())
        for source in solution.sources
    )


def mean_latency_ms(times: Sequence[float | None]) -> float | None:
    """Geometric mean; None unless every workload has a time."""
    known = [math.log(time) for time in times if time]
    return math.exp(math.fsum(known) / len(known)) if known and len(known) == len(times) else None


def shown_interval(interval: tuple[float, float] | None) -> tuple[float | None, float | None]:
    """The ends of a latency's interval, rounded for show; None where too few processes give none."""
    return (_rounded(interval[0]), _rounded(interval[1])) if interval else (None, None)


def _rounded(time: float) -> float:
    return float(f"{time:.{_DIGITS}g}")


def _workload(
    judged: WorkloadVerdict, own: Sequence[Measurement], timed: Timed | None, scored: SubmissionScore | None
) -> ShownWorkload:
    low, high = shown_interval(timed.interval_ms if timed else None)
    official = [m for m in own if m.kind == "official"] or own
    return ShownWorkload(
        uuid=judged.uuid,
        axes=", ".join(f"{name} {size}" for name, size in judged.axes.items()),
        status=str(judged.status),
        accepted=judged.accepted,
        latency_ms=None if judged.latency_ms is None else _rounded(judged.latency_ms),
        low_ms=low,
        high_ms=high,
        timer=judged.timer,
        error=judged.max_absolute_error,
        matched=judged.matched_ratio,
        note=judged.note,
        boxes=boxes(official, judged.latency_ms),
        **workload_figures(scored.problem if scored else None, judged.uuid),
    )


def workload_figures(problem: ProblemScore | None, uuid: str) -> dict[str, Any]:
    """Score and bounds of one workload; nothing where the tables do not hold it."""
    found = next((w for w in problem.workloads if w.workload == uuid), None) if problem else None
    if found is None:
        return {}
    return {"score": found.score, "t_sol_ms": found.t_sol_ms, "t_b_ms": found.t_b_ms, "audit": found.audit}


def _figures(problem: ProblemScore | None) -> dict[str, Any]:
    if problem is None:
        return {}
    low, high = problem.interval or (None, None)
    return {"score": problem.score, "low": low, "high": high}


def _foreseen(evidence: Evidence) -> dict[str, Any]:
    """From the prediction for the target, else from the first there is."""
    wanted: Prediction | None = next(
        (p for p in evidence.predictions if p.hardware == evidence.target),
        evidence.predictions[0] if evidence.predictions else None,
    )
    if wanted is None:
        return {}
    fields = Foreseen.model_fields
    rows = tuple(Foreseen(**{name: getattr(w, name) for name in fields}) for w in wanted.workloads)
    return {"foreseen": rows, "foreseen_for": wanted.hardware}


def _kernels(evidence: Evidence) -> tuple[ShownKernel, ...]:
    fields = ShownKernel.model_fields
    return tuple(
        ShownKernel(**{name: getattr(kernel, name) for name in fields})
        for report in evidence.compile_reports
        for kernel in report.kernels
    )
