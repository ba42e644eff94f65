"""What the page shows of one task, read from submissions, snapshots and runs; one task at a time, in a pool."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from leaderboard.board.entry import Entry, History, ShownConclusion, Source, Tried
from leaderboard.board.fast_reading import read_quickly
from leaderboard.board.from_snapshot import entry_of_snapshot
from leaderboard.board.from_submission import entry_of
from leaderboard.board.task_page import TaskMaterial, TaskPage, task_page
from leaderboard.snapshot_file import read_snapshot
from leaderboard.store_summary import Judged
from leaderboard.tables import PublishedTimes, TimeTable
from pipeline.journal import Event, read_events
from pipeline.run_folder import JOURNAL, Header
from pipeline.score import tables_for
from pipeline.settings import Settings
from tasks.errors import TaskError

Own = tuple[TimeTable, TimeTable]


class Job(NamedTuple):
    """One task's page; everything in it can be sent to another process."""

    task: str
    subset: str
    folders: tuple[Path, ...] = ()
    snapshots: tuple[Path, ...] = ()
    runs: tuple[Path, ...] = ()
    judged: Judged | None = None


class Made(NamedTuple):
    page: TaskPage
    skipped: tuple[str, ...]
    """What could not be read, each with the cause."""


def make_page(job: Job, settings: Settings, own: Own | None) -> Made:
    """The page of `job`; a file that cannot be read costs itself alone."""
    tables = _tables(job, settings, own)
    entries: list[Entry] = []
    sources: list[Source] = []
    histories: list[History] = []
    conclusions: list[ShownConclusion] = []
    skipped: list[str] = []
    for path in (*job.folders, *job.snapshots):
        try:
            entry, texts = _entry(path, job, tables)
            entries.append(entry)
            sources.extend(texts)
        except TaskError as error:
            skipped.append(str(error))
    for run in job.runs:
        try:
            header, events = read_events(run / JOURNAL)
            histories.append(_history(run, header, events))
            conclusions.extend(_conclusions(run, events))
        except TaskError as error:
            skipped.append(str(error))
    page = task_page(
        TaskMaterial(
            task=job.task,
            subset=job.subset,
            entries=entries,
            sources=sources,
            histories=histories,
            conclusions=conclusions,
            judged=job.judged,
            tables=_named(tables),
        )
    )
    return Made(page, tuple(skipped))


def _entry(path: Path, job: Job, tables: PublishedTimes | None) -> tuple[Entry, tuple[Source, ...]]:
    if path.is_file():
        return entry_of_snapshot(read_snapshot(path), str(path))
    submission = read_quickly(path)
    if submission.evidence.task.name != job.task:
        raise TaskError(
            f"is about {submission.evidence.task.name}", file=path, mend="move it to its own folder"
        )
    return entry_of(submission, str(path), tables)


def _tables(job: Job, settings: Settings, own: Own | None) -> PublishedTimes | None:
    """None where nothing is published of the task, or the person's own tables leave it out."""
    if not job.folders:
        return None
    if own is not None:
        found = PublishedTimes(t_sol=own[0], t_b=own[1])
        return found if job.task in found.t_sol.times_ms and job.task in found.t_b.times_ms else None
    try:
        return tables_for(settings, job.task, None)
    except TaskError:
        return None


def _named(tables: PublishedTimes | None) -> str:
    if tables is None:
        return ""
    p = tables.t_sol.provenance
    return f"{p.source} {p.revision} for {p.hardware}, retrieved {p.retrieved}"


def _history(run: Path, header: Any, events: Sequence[Event]) -> History:
    """A run's candidates in the order judged; `TaskError` when its header is of another version."""
    try:
        known = Header.model_validate(header)
    except ValidationError as error:
        raise TaskError(
            "is no run that this version knows", file=run / JOURNAL, mend="start a new run"
        ) from error
    return History(
        run=run.name,
        command=f"kernelarc {known.command} {known.task} --budget {known.budget} --seed {known.settings.seed} "
        f"--agents {','.join(known.agents)} --device {known.device}",
        device=known.device,
        by_measurement=known.device == "cuda",
        tried=tuple(_tried(events)),
    )


def _tried(events: Sequence[Event]) -> Iterator[Tried]:
    strategies: dict[str | None, str] = {}
    for event in events:
        if event.event == "asked":
            strategies[event.candidate] = event.strategy or ""
        elif event.event == "judged" and event.candidate:
            yield Tried(
                agent=event.agent or "",
                candidate=event.candidate[:12],
                strategy=strategies.get(event.candidate, ""),
                status=event.status or "",
                reason=event.reason,
                latency_ms=event.latency_ms,
                predicted_ms=event.predicted_ms,
            )


def _conclusions(run: Path, events: Sequence[Event]) -> Iterator[ShownConclusion]:
    """Each once, however often it was drawn."""
    found = {event.conclusion.key: event.conclusion for event in events if event.conclusion is not None}
    for conclusion in found.values():
        scope = conclusion.scope
        shapes = (
            f"{axis} {low}" + (f" to {high}" if high != low else "")
            for axis, (low, high) in scope.shapes.items()
        )
        yield ShownConclusion(
            kind=conclusion.kind,
            text=f"{conclusion.strategy}: {conclusion.reflection}",
            scope=", ".join([scope.architecture, *scope.dtypes, *shapes]),
            evidence=tuple(digest[:12] for digest in conclusion.evidence),
            run=run.name,
        )
