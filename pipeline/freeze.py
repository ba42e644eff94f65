"""From a submission's folder to its snapshot, with a score where tables of T_SOL and T_b are at hand."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from leaderboard.sentinels import sentinels_beside
from leaderboard.snapshot import Snapshot, take_snapshot
from leaderboard.submission_score import score_submission
from pipeline.score import table_records, tables_for, verified
from pipeline.settings import Settings
from tasks.errors import TaskError


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
