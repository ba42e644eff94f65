"""Snapshots taken of the sentinels and of champions."""

import agents
import tasks
from leaderboard.frozen.kernel import sentinel_names, sentinel_task
from leaderboard.sentinels import sentinels_beside
from leaderboard.snapshot import Snapshot, take_snapshot
from leaderboard.snapshot_file import write_snapshot
from pipeline.freeze import submission_of
from pipeline.prepare import prepare_task
from pipeline.protocols import protocol_for
from scripts.leaderboard_bars.asked import Row
from scripts.leaderboard_bars.bench import Bench
from submissions.write import write
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.task import Task


def take_sentinel(bench: Bench, name: str) -> Row:
    task = sentinel_task(name)
    if task is None:
        raise TaskError("is no sentinel", file=name, mend=f"there are {', '.join(sentinel_names())}")
    task = prepare_task(bench.settings, task, bench.session.device, bench.progress).judged
    return _taken(bench, task, bench.sentinel(name, task, 0), (), bench.asked.processes)


def take_champion(bench: Bench, name: str) -> Row:
    """Of the agent's first proposal, on every workload."""
    asked = tasks.load(name, data_roots=bench.settings.data)
    prepared = prepare_task(bench.settings, asked, bench.session.device, bench.progress)
    candidate = agents.create(bench.asked.agent, prepared.asked, 0, target="LOCAL").ask()
    if candidate is None:
        raise TaskError(f"the agent {bench.asked.agent} proposes nothing", file=name, mend="--agent another")
    return _taken(bench, prepared.judged, candidate, bench.sentinels(), bench.asked.champion_processes)


def _taken(
    bench: Bench, task: Task, candidate: Candidate, sentinels: tuple[Snapshot, ...], processes: int | None
) -> Row:
    protocol = protocol_for("final", bench.session.device, bench.settings, task)
    if processes is not None:
        protocol = protocol.model_copy(update={"processes": processes})
    submission = submission_of(task, candidate, protocol, bench.session, bench.progress.note)
    environment = submission.verdict.environment
    remark = ""
    try:
        medians = sentinels_beside(environment, sentinels)
    except TaskError as error:
        medians, remark = {}, f"without sentinels: {error}"
    snapshot = take_snapshot(submission, sentinels=medians)
    write(submission, bench.asked.snapshots / "submissions")
    return {
        "file": write_snapshot(snapshot, bench.asked.snapshots).name, "strategy": candidate.strategy,
        "workloads": [
            {"uuid": t.uuid, "processes": len(t.medians_ms), "timer": t.timer} for t in snapshot.times
        ],
        "readiness": snapshot.readiness, "remark": remark, "environment": environment.model_dump(mode="json"),
    }  # fmt: skip
