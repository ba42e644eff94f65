"""Judging a snapshot's candidate once more, in fresh processes, and asking whether the snapshot holds."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from guard.errors import GuardBroken
from guard.protocol import Protocol
from guard.verdict import Environment, Verdict, joint_environment
from leaderboard.differences import Excusable
from leaderboard.equivalence import Margins
from leaderboard.frozen.kernel import sentinel_task
from leaderboard.holds import Holding, holds
from leaderboard.sentinels import sentinels_of
from leaderboard.snapshot import Snapshot
from leaderboard.snapshot_file import rebuild
from pipeline.device import Chosen, choose_device
from pipeline.prepare import prepare, prepare_task
from pipeline.progress import Progress
from pipeline.protocols import protocol_for
from pipeline.settings import Settings
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.task import Task
from tasks.value import Value

if TYPE_CHECKING:
    from guard.session import Session

JudgePart = Callable[[Task, Candidate, Protocol], Verdict]
Clock = Callable[[], float]
_PARTS = 8
"""Into how many a run with a time limit is cut: a part is what may be given up."""


class Recheck(Value):
    snapshot: Snapshot
    verdict: Verdict
    holding: Holding
    protocol: Protocol
    """Under which it was judged."""


def recheck(
    snapshot: Snapshot,
    settings: Settings,
    progress: Progress,
    *,
    submission: Path | None = None,
    sentinels: Sequence[Snapshot] = (),
    excused: frozenset[Excusable] = frozenset(),
    max_seconds: float | None = None,
    session: "Session | None" = None,
    rule: Margins | None = None,
    only: frozenset[str] | None = None,
) -> Recheck:
    """Judge it with the guard on this machine, under the snapshot's own protocol where the device allows.

    `sentinels` are judged first when this is another card than the snapshot's, and its speed is taken out.

    With `max_seconds` workloads are judged in parts, and those that no longer fit are left out by name; the
    first part is always judged. With `only` no workloads but those of these uuids are. Several rechecks may
    share a `session`. `TaskError` when the task is not the snapshot's any more.
    """
    from guard.judge import judge
    from guard.session import Session

    device = choose_device(settings.device)
    candidate = rebuild(snapshot, submission)
    task = the_task(snapshot, settings, device, progress)
    protocol = _protocol(snapshot, device, settings, task)
    with nullcontext(session) if session else Session(device, inputs=settings.inputs) as held:

        def judge_part(part: Task, candidate: Candidate, protocol: Protocol) -> Verdict:
            return judge(part, candidate, protocol, held, progress.note)

        standing = list(_judged_sentinels(snapshot, sentinels, settings, device, progress, judge_part))
        parts = judged_parts(_chosen(task, only), candidate, protocol, judge_part, max_seconds)
        verdict = joined(task, list(parts))
    holding = holds(
        snapshot,
        verdict,
        protocol,
        sentinels=sentinels_of(standing),
        excused=excused,
        part_of=task.digest,
        rule=rule,
    )
    return Recheck(snapshot=snapshot, verdict=verdict, holding=holding, protocol=protocol)


def environment_here(device: Chosen) -> Environment:
    """This machine as it is before anything runs."""
    from guard.environment import Watch

    with Watch(device) as watch:
        pass
    return watch.environment("none", {})


def _judged_sentinels(
    snapshot: Snapshot,
    sentinels: Sequence[Snapshot],
    settings: Settings,
    device: Chosen,
    progress: Progress,
    judge: JudgePart,
) -> Iterator[Verdict]:
    """None of them on the snapshot's own card, where times are compared as they are."""
    if not sentinels or environment_here(device).uuid == snapshot.environment.uuid:
        return
    for sentinel in sentinels:
        progress.note(f"sentinel {sentinel.name}")
        task = the_task(sentinel, settings, device, progress)
        yield judge(task, rebuild(sentinel), _protocol(sentinel, device, settings, task))


def the_task(snapshot: Snapshot, settings: Settings, device: Chosen, progress: Progress) -> Task:
    """What is judged here of the snapshot's task: on the device of the snapshot, exactly what it was."""
    sentinel = sentinel_task(snapshot.task.name)
    if sentinel is not None:
        prepared = prepare_task(settings, sentinel, device, progress)
    else:
        prepared = prepare(settings, snapshot.task.name, device, progress)
    if prepared.asked.definition.digest != snapshot.task.definition_digest:
        raise TaskError(
            "is not the definition that the snapshot was taken on",
            file=snapshot.task.name,
            field="definition",
            mend="use the data set's revision, or the version of kernelarc, that the snapshot names",
        )
    return prepared.judged


def judged_parts(
    task: Task,
    candidate: Candidate,
    protocol: Protocol,
    judge: JudgePart,
    max_seconds: float | None = None,
    clock: Clock = time.monotonic,
) -> Iterator[Verdict]:
    """The verdicts on one part of the workloads after another; it ends with a rejection, or with the time.

    A part is begun only when the dearest one so far would still fit.
    """
    began = clock()
    dearest = 0.0
    for part in _parts(task, 1 if max_seconds is None else _PARTS):
        started = clock()
        if max_seconds is not None and dearest and started - began + dearest > max_seconds:
            return
        verdict = judge(part, candidate, protocol)
        yield verdict
        if verdict.status == "rejected":
            return
        dearest = max(dearest, clock() - started)


def joined(task: Task, parts: Sequence[Verdict]) -> Verdict:
    """One verdict of several on parts of `task`; a rejection of one rejects the whole."""
    if not parts:
        raise GuardBroken("no part of the task could be judged")
    last = parts[-1]
    return last.model_copy(
        update={
            "task_digest": task.digest,
            "workloads": tuple(w for part in parts for w in part.workloads),
            "measurements": tuple(m for part in parts for m in part.measurements),
            "environment": joint_environment([part.environment for part in parts]),
            "flags": tuple(sorted({flag for part in parts for flag in part.flags})),
        }
    )


def _parts(task: Task, count: int) -> Iterator[Task]:
    size = math.ceil(len(task.workloads) / count)
    for first in range(0, len(task.workloads), size):
        yield _chosen(task, frozenset(w.uuid for w in task.workloads[first : first + size]))


def _chosen(task: Task, kept: frozenset[str] | None) -> Task:
    if kept is None:
        return task
    originals = {new: old for new, old in task.originals.items() if new in kept}
    workloads = tuple(w for w in task.workloads if w.uuid in kept)
    return task.model_copy(update={"workloads": workloads, "originals": originals})


def _protocol(snapshot: Snapshot, device: Chosen, settings: Settings, task: Task) -> Protocol:
    """The snapshot's own; on another kind of device that one's final, under which times are not compared."""
    if device == snapshot.environment.kind:
        return snapshot.protocol
    chosen = protocol_for("final", device, settings, task)
    return chosen.model_copy(update={"precision": snapshot.protocol.precision})
