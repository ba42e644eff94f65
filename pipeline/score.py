"""`kernelarc score`: submissions found, tables found, and the official formula over both."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

from leaderboard.desk_plan import Ready
from leaderboard.score import BenchmarkScore, score_benchmark
from leaderboard.snapshot import TableRecord
from leaderboard.submission_score import SubmissionScore, no_submission, score_submission
from leaderboard.tables import PublishedTimes, read_published, read_table
from pipeline.settings import Settings
from submissions.files import EVIDENCE
from submissions.read import read
from submissions.submission import Submission
from submissions.verify import verify
from submissions.write import ROOT
from tasks.errors import TaskError
from tasks.value import Value

PUBLISHED = "published.json"
"""Beside an official problem in the data set: its times on the board's hardware."""


class Scores(Value):
    problems: tuple[SubmissionScore, ...]
    benchmark: BenchmarkScore


def score(
    settings: Settings, named: Sequence[str], own: tuple[Path, Path] | None, denominator: int | None
) -> Scores:
    """The best score of each problem named, by a submission's folder or by the task, and their mean.

    `own` are tables of T_SOL and T_b, in place of the published ones. `denominator` is how many problems
    the benchmark has; none: those that were named.
    """
    best: dict[str, SubmissionScore] = {}
    for name in named:
        for scored in _scores_of(settings, name, own):
            known = best.get(scored.problem.task)
            if known is None or scored.problem.score > known.problem.score or not known.submission:
                best[scored.problem.task] = scored
    problems = [scored.problem for scored in best.values()]
    if denominator is not None and denominator < len(problems):
        raise TaskError(
            f"{denominator} problems are fewer than the {len(problems)} named",
            field="--problems",
            mend="the whole benchmark has 235",
        )
    return Scores(
        problems=tuple(best.values()),
        benchmark=score_benchmark(problems, denominator or len(problems)),
    )


def _scores_of(settings: Settings, name: str, own: tuple[Path, Path] | None) -> Iterator[SubmissionScore]:
    if (Path(name) / EVIDENCE).is_file():
        submission = verified(Path(name))
        tables = tables_for(settings, submission.evidence.task.name, own)
        yield score_submission(submission, tables.t_sol, tables.t_b)
        return
    task = _full_name(settings, name)
    tables = tables_for(settings, task, own)
    found = submissions_of(task, settings.out or ROOT)
    if not found:
        yield no_submission(task, tables.t_sol, tables.t_b)
    for submission in found:
        yield score_submission(submission, tables.t_sol, tables.t_b)


def verified(folder: Path) -> Submission:
    """The submission in `folder`; `TaskError` when anything in it does not hold."""
    for discrepancy in verify(folder):
        raise TaskError(f"does not verify: {discrepancy}", file=folder, mend="use an unchanged submission")
    return read(folder)


def submissions_of(task: str, root: Path) -> list[Submission]:
    """Those below `root` for the task of that whole name, in the order of their folders."""
    short = task.rsplit("/", 1)[-1]
    folders = sorted(path.parent for path in root.glob(f"*/*/{short}/*/{EVIDENCE}"))
    found = (verified(folder) for folder in folders)
    return [submission for submission in found if submission.evidence.task.name == task]


def tables_for(settings: Settings, task: str, own: tuple[Path, Path] | None) -> PublishedTimes:
    """T_SOL and T_b of `task`: the person's own tables, else those published beside it in the data set.

    `TaskError` when there are none.
    """
    if own is not None:
        return PublishedTimes(t_sol=read_table(own[0]), t_b=read_table(own[1]))
    import tasks
    from tasks.catalogue import find_task

    entry = find_task(task, settings.data)
    path = Path(entry.location) / PUBLISHED
    if entry.source not in ("dataset", "folder") or not path.is_file():
        raise TaskError(
            "has no published T_SOL and T_b",
            file=task,
            mend="give your own tables with --t-sol and --t-b, or a data root that holds published.json",
        )
    # the file says not when it was fetched; what the disk says is the nearest to it
    retrieved = datetime.fromtimestamp(path.stat().st_mtime, UTC).date()
    return read_published(path, tasks.load(task, data_roots=settings.data), retrieved)


def table_records(tables: PublishedTimes) -> tuple[TableRecord, TableRecord]:
    """Of T_SOL and of T_b."""
    sol, baseline = (
        TableRecord(digest=table.digest, provenance=table.provenance) for table in (tables.t_sol, tables.t_b)
    )
    return sol, baseline


def _full_name(settings: Settings, name: str) -> str:
    from tasks.catalogue import find_task

    return find_task(name, settings.data).name


def could_be_sent(settings: Settings, folder: Path, file_digest: str) -> Ready:
    """A submission for the desk's plan, with the ends of its score where it says what the board would give."""
    submission = verified(folder)
    name = submission.evidence.task.name
    unknown = Ready(file_digest, str(folder), name, None, None)
    try:
        tables = tables_for(settings, name, None)
    except TaskError:
        return unknown
    scored = score_submission(submission, tables.t_sol, tables.t_b)
    if scored.predicted is not None:
        low, high = scored.predicted.interval
    elif scored.as_on_the_board:
        low, high = scored.problem.interval or (scored.problem.score, scored.problem.score)
    else:
        return unknown
    return unknown._replace(low=low, high=high)
