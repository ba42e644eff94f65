"""Judged again: with nothing changed, and with one kernel made longer."""

from guard.judge import judge
from leaderboard.equivalence import Margins
from leaderboard.gate import a_look
from leaderboard.holds import Holding, holds
from leaderboard.snapshot import Snapshot
from leaderboard.snapshot_file import rebuild
from pipeline.recheck import recheck
from pipeline.regress import FINDING, regress
from scripts.leaderboard_bars.asked import Row
from scripts.leaderboard_bars.bench import Bench, cycles_of, middle
from scripts.leaderboard_bars.delay import delayed, delayed_on_cpu
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.task import Task


def same(bench: Bench, name: str) -> Row:
    """A driver check of one sentinel, as `kernelarc regress` makes it."""
    (found,) = regress(
        [bench.snapshot("sentinels", name)], bench.settings, bench.progress,
        root=bench.asked.snapshots / "sessions", session=bench.session,
    )  # fmt: skip
    if found.holding is None:
        raise TaskError("; ".join(map(str, found.differences)), file=name, mend="use the baseline's device")
    return {**_said(found.holding), "environment": found.environment.model_dump(mode="json")}


def inject(bench: Bench, name: str) -> Row:
    snapshot = bench.snapshot("sentinels", name)
    share = bench.asked.injection / 100 if name == bench.asked.injected else 0.0
    task = bench.task(snapshot)
    candidate = bench.sentinel(name, task, cycles_of(snapshot.times[0].medians_ms, share, snapshot))
    return {**_compared(bench, snapshot, task, candidate, a_look(FINDING)), "injected": share}


def repeat(bench: Bench, name: str) -> Row:
    """As `kernelarc reproduce` makes it, on some workloads."""
    snapshot = bench.snapshot("champions", name)
    again = recheck(
        snapshot, bench.settings, bench.progress, session=bench.session, only=bench.chosen(snapshot),
        sentinels=bench.sentinels(),
    )  # fmt: skip
    return {**_said(again.holding), "environment": again.verdict.environment.model_dump(mode="json")}


def delay(bench: Bench, name: str) -> Row:
    snapshot = bench.snapshot("champions", name)
    share = bench.asked.dose / 100 if name == bench.asked.delayed else 0.0
    chosen = bench.chosen(snapshot)
    task = bench.task(snapshot)
    task = task.model_copy(update={"workloads": tuple(w for w in task.workloads if w.uuid in chosen)})
    candidate = rebuild(snapshot)
    if share:
        candidate = _delayed(bench, snapshot, task, candidate, share)
    return {**_compared(bench, snapshot, task, candidate, Margins()), "injected": share}


def _delayed(bench: Bench, snapshot: Snapshot, task: Task, candidate: Candidate, share: float) -> Candidate:
    times = {t.uuid: t.medians_ms for t in snapshot.times}
    first = next(iter(task.definition.inputs))
    shapes = {w.uuid: task.definition.input_shapes(w.axes)[first] or () for w in task.workloads}
    if bench.session.device == "cpu":
        waits = {shapes[w.uuid]: int(1e6 * middle(times[w.uuid]) * (1 + share)) for w in task.workloads}
        return delayed_on_cpu(candidate, waits)
    return delayed(
        candidate, {shapes[w.uuid]: cycles_of(times[w.uuid], share, snapshot) for w in task.workloads}
    )


def _compared(bench: Bench, snapshot: Snapshot, task: Task, candidate: Candidate, rule: Margins) -> Row:
    """As `recheck` compares, of a candidate that may be another than the snapshot's."""
    verdict = judge(task, candidate, snapshot.protocol, bench.session, bench.progress.note)
    if verdict.reason is not None:
        raise TaskError(f"was rejected: {verdict.reason.message}", file=snapshot.name)
    verdict = verdict.model_copy(update={"candidate_digest": snapshot.candidate.digest})
    found = holds(snapshot, verdict, snapshot.protocol, part_of=snapshot.task.digest, rule=rule)
    return {**_said(found), "environment": verdict.environment.model_dump(mode="json")}


def _said(found: Holding) -> Row:
    fields = {"uuid", "answer", "ratio", "low", "high", "margin", "processes", "spread", "then_ms", "now_ms"}
    return {
        "answer": str(found.answer),
        "basis": found.basis,
        "workloads": [w.model_dump(mode="json", include=fields) for w in found.workloads],
        "differences": [str(d) for d in found.differences],
    }
