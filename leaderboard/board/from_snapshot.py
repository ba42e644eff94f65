"""One snapshot as an entry of the page: process medians instead of every call, and how to reproduce it."""

from statistics import median

from guard.verdict import Measurement
from leaderboard.board.distribution import boxes
from leaderboard.board.entry import Entry, ShownWorkload
from leaderboard.board.from_submission import (
    Sources,
    mean_latency_ms,
    shown_interval,
    sources_of,
    workload_figures,
)
from leaderboard.snapshot import Snapshot, WorkloadTimes
from leaderboard.submission_score import median_interval_ms


def entry_of_snapshot(snapshot: Snapshot, place: str) -> tuple[Entry, Sources]:
    """Its score is the one it was taken with; it is not scored again by other tables."""
    record, problem = snapshot.candidate, snapshot.score
    sources = sources_of(snapshot.solution) if snapshot.solution else ()
    workloads = tuple(_workload(times, snapshot) for times in snapshot.times)
    low, high = (problem.interval if problem else None) or (None, None)
    entry = Entry(
        digest=snapshot.digest,
        kind="snapshot",
        place=place,
        readiness=snapshot.readiness,
        agent=record.agent,
        strategy=record.strategy,
        languages=tuple(map(str, record.spec.languages)),
        target=snapshot.target,
        environment=snapshot.environment,
        judged_at=snapshot.taken_on.isoformat(),
        verify=f"kernelarc reproduce {place}",
        precision=snapshot.protocol.precision,
        protocol=snapshot.protocol.name,
        processes=snapshot.protocol.processes,
        evaluator=snapshot.evaluator,
        lint=tuple(map(str, snapshot.task.findings)),
        versions=snapshot.versions,
        score=problem.score if problem else None,
        low=low,
        high=high,
        latency_ms=mean_latency_ms([w.latency_ms for w in workloads]),
        workloads=workloads,
        sources=tuple((source.path, source.digest) for source in sources),
    )
    return entry, sources


def _workload(times: WorkloadTimes, snapshot: Snapshot) -> ShownWorkload:
    latency = median(times.medians_ms)
    low, high = shown_interval(median_interval_ms(times.medians_ms))
    shown = [
        Measurement(workload=times.uuid, process=i, timer=times.timer, kind=times.kind, times_ms=(m,))
        for i, m in enumerate(times.medians_ms)
    ]
    return ShownWorkload(
        uuid=times.uuid,
        axes="",
        status="PASSED",
        accepted=True,
        latency_ms=latency,
        low_ms=low,
        high_ms=high,
        timer=times.timer,
        boxes=boxes(shown, latency),
        **workload_figures(snapshot.score, times.uuid),
    )
