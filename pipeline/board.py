"""`kernelarc board`: what there is of each task, found once, and one page made of it after another."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

from leaderboard.board.series import read_series
from leaderboard.board.site import Site, plotting_library, write_site
from leaderboard.board.task_page import TaskPage
from leaderboard.snapshot import Snapshot
from leaderboard.snapshot_file import read_snapshot
from leaderboard.store_summary import Judged, judged_by_task
from leaderboard.tables import read_table
from pipeline.board_material import Job, Made, Own, make_page
from pipeline.run_folder import JOURNAL
from pipeline.settings import Settings
from submissions.files import EVIDENCE
from submissions.write import ROOT
from tasks.catalogue import list_tasks
from tasks.document import read_json
from tasks.errors import TaskError

SNAPSHOTS = Path("leaderboard/snapshots")
_ALONE = 40
"""Submissions that one process shows before a second one has started."""


class Places(NamedTuple):
    """Where to look; a place that is not there holds nothing."""

    snapshots: Path = SNAPSHOTS
    sessions: Path = Path(".kernelarc/sessions")
    store: str = "sqlite:///.kernelarc/store.sqlite"


class Built(NamedTuple):
    site: Site
    skipped: tuple[str, ...]


def build(
    settings: Settings,
    out: Path,
    places: Places,
    own: tuple[Path, Path] | None = None,
    problems: int | None = None,
) -> Built:
    """The page in `out`, of every task in the catalogue and of all that was found of it."""
    plotting_library()
    skipped: list[str] = []
    snapshots = dict(_snapshots(places.snapshots, skipped))
    judged = _judged(places.store, skipped)
    jobs = _jobs(settings, snapshots, judged, skipped)
    tables = (read_table(own[0]), read_table(own[1])) if own else None
    names = {snapshot.digest: snapshot.name for snapshot in snapshots.values()}
    series, odd = read_series(places.sessions, names)
    skipped.extend(odd)
    site = write_site(
        out, _pages(jobs, settings, tables, skipped), series, problems=problems, skipped=skipped
    )
    return Built(site, tuple(skipped))


def _pages(
    jobs: Sequence[Job], settings: Settings, own: Own | None, skipped: list[str]
) -> Iterator[TaskPage]:
    make = partial(make_page, settings=settings, own=own)
    for made in _made(jobs, make):
        skipped.extend(made.skipped)
        yield made.page


def _made(jobs: Sequence[Job], make: "partial[Made]") -> Iterable[Made]:
    """In this process, or, when there is much to read, in one a core."""
    workers = min(len(os.sched_getaffinity(0)), 8)
    if workers < 2 or sum(len(job.folders) for job in jobs) <= _ALONE:
        yield from map(make, jobs)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield from pool.map(make, jobs, chunksize=4)


def _jobs(
    settings: Settings, snapshots: Mapping[Path, Snapshot], judged: Mapping[str, Judged], skipped: list[str]
) -> list[Job]:
    """One a task: those of the catalogue, and those that something else is about."""
    subsets = {entry.name: entry.subset or "" for entry in list_tasks(settings.data)}
    folders = _by_task(_submissions(settings.out or ROOT, skipped))
    frozen = _by_task((snapshot.task.name, path) for path, snapshot in snapshots.items())
    runs = _by_task(_runs(settings.runs, skipped))
    for snapshot in snapshots.values():
        subsets.setdefault(snapshot.task.name, snapshot.task.subset or "")
    return [
        Job(
            task=task,
            subset=subsets.get(task) or _subset(folders.get(task, ())),
            folders=tuple(folders.get(task, ())),
            snapshots=tuple(frozen.get(task, ())),
            runs=tuple(runs.get(task, ())),
            judged=judged.get(task) or judged.get(task.rsplit("/", 1)[-1]),
        )
        for task in sorted({*subsets, *folders, *frozen, *runs})
    ]


def _subset(folders: Sequence[Path]) -> str:
    """As the submission's own folder says: `ready/L2/l2_decoder/0123456789ab`."""
    return folders[0].parent.parent.name if folders else ""


def _submissions(root: Path, skipped: list[str]) -> Iterator[tuple[str, Path]]:
    """Every submission's folder with the task that the first of its neighbours is about."""
    known: dict[Path, str] = {}
    for path in sorted(root.glob(f"*/*/*/*/{EVIDENCE}")):
        folder = path.parent
        if folder.name.startswith("."):
            continue
        shelf = folder.parent
        if shelf not in known:
            try:
                known[shelf] = str(read_json(path).content["task"]["name"])
            except (TaskError, KeyError, TypeError) as error:
                skipped.append(f"{folder}: {error}")
                continue
        yield known[shelf], folder


def _snapshots(folder: Path, skipped: list[str]) -> Iterator[tuple[Path, Snapshot]]:
    for path in sorted(folder.glob("*.json")):
        try:
            yield path, read_snapshot(path)
        except TaskError as error:
            skipped.append(str(error))


def _runs(root: Path, skipped: list[str]) -> Iterator[tuple[str, Path]]:
    for path in sorted(root.glob(f"*/{JOURNAL}")):
        try:
            with path.open(encoding="utf-8") as lines:
                yield _task_in(lines.readline()), path.parent
        except (TaskError, OSError, UnicodeDecodeError) as error:
            skipped.append(f"{path}: {error}")


def _task_in(line: str) -> str:
    from tasks.document import parse_json

    content = parse_json(line, JOURNAL).content
    if not isinstance(content, dict) or not isinstance(content.get("task"), str):
        raise TaskError("its first line names no task", field="task", mend="start a new run")
    return str(content["task"])


def _judged(url: str, skipped: list[str]) -> dict[str, Judged]:
    """Nothing without a store, which is never made for the page's sake."""
    from leaderboard.store import file_of, open_store

    path = file_of(url)
    if path is not None and not path.exists():
        return {}
    try:
        with open_store(url) as store:
            return judged_by_task(store)
    except TaskError as error:
        skipped.append(str(error))
        return {}


def _by_task(found: Iterable[tuple[str, Path]]) -> dict[str, list[Path]]:
    grouped: dict[str, list[Path]] = {}
    for task, path in found:
        grouped.setdefault(task, []).append(path)
    return grouped
