"""From a submission's folder to its snapshot, with a score where tables of T_SOL and T_b are at hand."""

from datetime import date
from pathlib import Path

from leaderboard.snapshot import Snapshot, take_snapshot
from leaderboard.submission_score import score_submission
from pipeline.score import table_records, tables_for, verified
from pipeline.settings import Settings
from tasks.errors import TaskError


def freeze(
    settings: Settings, folder: Path, *, taken_on: date | None = None, inline: bool = True
) -> Snapshot:
    """`TaskError` unless the submission verifies and, being ready, has enough processes."""
    submission = verified(folder)
    try:
        tables = tables_for(settings, submission.evidence.task.name, None)
    except TaskError:
        return take_snapshot(submission, taken_on=taken_on, inline=inline)
    scored = score_submission(submission, tables.t_sol, tables.t_b)
    return take_snapshot(
        submission, taken_on=taken_on, inline=inline, score=(scored.problem, *table_records(tables))
    )
