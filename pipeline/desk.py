"""What the desk needs from elsewhere: submissions that verify, what they were made with, and what holds now."""

import hashlib
from pathlib import Path

import tasks
from leaderboard.drift import stated_by
from pipeline.score import tables_for, verified
from pipeline.settings import Settings
from submissions.facts import EVALUATOR, TaskRecord
from submissions.submission import Submission
from tasks.errors import TaskError
from tasks.solution_file import SOLUTION
from tasks.value import digest_of


def uploaded(folder: Path) -> tuple[str, Submission]:
    """The sha256 of the file that is uploaded, and the submission, which must verify."""
    submission = verified(folder)
    return hashlib.sha256((folder / SOLUTION).read_bytes()).hexdigest(), submission


def stated(settings: Settings, submission: Submission) -> dict[str, str]:
    """What a submission was made with; nothing of the data where its workloads were scaled down."""
    evidence = submission.evidence
    whole = "" if evidence.task.marks else _data_of(evidence.task)
    found = stated_by(evidence.evaluator, whole, _t_sol(settings, evidence.task.name))
    return {what: text for what, text in found.items() if text}


def stated_now(settings: Settings, task: str) -> dict[str, str]:
    """What holds now; of a task that is not found here, the evaluator alone."""
    try:
        data = _data_of(TaskRecord.of(tasks.load(task, data_roots=settings.data)))
    except TaskError:
        return {"evaluator": EVALUATOR}
    return stated_by(EVALUATOR, data, _t_sol(settings, task))


def _data_of(task: TaskRecord) -> str:
    return digest_of([task.definition_digest, task.workloads_digest])


def _t_sol(settings: Settings, task: str) -> str | None:
    """Of the times alone: when a table was fetched is no drift."""
    try:
        return digest_of(tables_for(settings, task, None).t_sol.times_ms[task])
    except TaskError:
        return None
