"""Snapshots taken: of a submission's folder, or of a candidate that is judged now."""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from guard.protocol import Protocol
from leaderboard.sentinels import sentinels_beside
from leaderboard.snapshot import Snapshot, take_snapshot
from leaderboard.submission_score import score_submission
from pipeline.device import choose_device
from pipeline.evaluate import read_candidate
from pipeline.prepare import load, prepare_task
from pipeline.progress import Progress
from pipeline.protocols import protocol_for
from pipeline.score import table_records, tables_for, verified
from pipeline.settings import Settings
from submissions.facts import Provenance
from submissions.package import package
from submissions.submission import Submission
from submissions.versions import installed
from submissions.write import ROOT, write
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.task import Task

if TYPE_CHECKING:
    from guard.session import Session


def freeze(
    settings: Settings,
    folder: Path,
    *,
    taken_on: date | None = None,
    inline: bool = True,
    sentinels: Sequence[Snapshot] = (),
) -> Snapshot:
    """`TaskError` unless the submission verifies and, being ready, has enough processes.

    `sentinels` are snapshots of kernels that stand for the speed of the card it was judged on.
    """
    submission = verified(folder)
    medians = sentinels_beside(submission.verdict.environment, sentinels)
    try:
        tables = tables_for(settings, submission.evidence.task.name, None)
    except TaskError:
        return take_snapshot(submission, taken_on=taken_on, inline=inline, sentinels=medians)
    scored = score_submission(submission, tables.t_sol, tables.t_b)
    return take_snapshot(
        submission,
        taken_on=taken_on,
        inline=inline,
        score=(scored.problem, *table_records(tables)),
        sentinels=medians,
    )


def submitted(settings: Settings, name: str, solution: Path, progress: Progress) -> Path:
    """The folder of the submission that comes of judging a solution file now under the final protocol."""
    from guard.session import Session

    device = choose_device(settings.device)
    task = load(settings, name)
    candidate = read_candidate(solution, task, progress)
    prepared = prepare_task(settings, task, device, progress)
    protocol = protocol_for("final", device, settings, prepared.judged)
    command = f"kernelarc snapshot {name} --solution {solution.name} --device {device}"
    with Session(device, inputs=settings.inputs) as session:
        submission = submission_of(prepared.judged, candidate, protocol, session, progress.note, command)
    return write(submission, settings.out or ROOT)


def submission_of(
    task: Task,
    candidate: Candidate,
    protocol: Protocol,
    session: "Session",
    note: Callable[[str], None],
    command: str = "",
) -> Submission:
    """What comes of judging `candidate` now, on this device as its own target, packaged as any other.

    `TaskError` when the guard rejects it. Only what it says itself is known of it: no compile reports, no
    prediction, no times of the reference.
    """
    from guard.judge import judge

    verdict = judge(task, candidate, protocol, session, note)
    if verdict.reason is not None:
        problem = f"was rejected: {verdict.reason.code}: {verdict.reason.message}"
        raise TaskError(problem, file=candidate.solution.name, mend="mend it, or leave it out")
    context = Provenance(
        protocol=protocol,
        judged_at=datetime.now(UTC).isoformat(timespec="seconds"),
        command=command,
        versions=installed(),
    )
    return package(task, candidate, verdict, target="LOCAL", context=context)
