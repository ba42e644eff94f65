"""Linting whatever path a user names: a file of any official kind, a problem folder, a data root."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from tasks.catalogue import data_roots_or_default, entries_under, find_task
from tasks.document import read_json, read_json_lines
from tasks.errors import TaskError
from tasks.lint.files import lint_definition, lint_entry, lint_solution, lint_traces, lint_workloads
from tasks.lint.reading import finding_of
from tasks.sources import SOURCES
from tasks.sources.base import TaskEntry
from tasks.sources.folder import CONFIG, DEFINITION, WORKLOADS, config_findings
from tasks.task import LintFinding

FileKind = Literal["definition", "workloads", "solution", "traces", "config", "parquet"]


def lint_paths(paths: Sequence[Path], data_roots: Sequence[Path] = ()) -> list[LintFinding]:
    """Every finding on every path, in the order given; what cannot be read is a finding of level error.

    What is no path is the name of a task; `TaskError` when it is none either.

    Data roots (those given, or `$SOL_EXECBENCH_DATA`) tell where blobs and definitions are looked for.
    """
    roots = data_roots_or_default(data_roots)
    findings: list[LintFinding] = []
    for path in paths:
        if is_name(path):
            findings += lint_entry(find_task(str(path), roots), roots)
            continue
        try:
            lint = _lint_folder if path.is_dir() else _lint_file
            findings += lint(path, roots)
        except TaskError as error:
            findings.append(finding_of(error))
        except (OSError, ValueError) as error:  # a loop of links, a NUL in the name
            findings.append(
                finding_of(TaskError(f"cannot be opened: {error}", file=path, mend="check the path"))
            )
    return findings


def is_name(path: Path) -> bool:
    """Whether it could be a task's name: nothing lies there, and it is not spelt as a file or a full path."""
    if "\0" in str(path):  # `exists` says no, and opening it says why
        return False
    try:
        return not (path.suffix or path.is_absolute() or path.exists() or path.is_symlink())
    except (OSError, ValueError):  # too long a name: said when it is opened
        return False


def kind_of_file(path: Path) -> FileKind:
    """By name where the name says it, else by the keys of the content; `TaskError` when neither does."""
    if path.suffix == ".parquet":
        return "parquet"
    if path.name in _KINDS_BY_NAME:
        return _KINDS_BY_NAME[path.name]
    documents = read_json_lines(path) if path.suffix == ".jsonl" else (read_json(path),)
    keys = set(documents[0].content) if documents else set()
    for wanted, kind in _KINDS_BY_KEY:
        if wanted <= keys:
            return kind
    raise TaskError(
        "is neither a definition, a workload, a solution nor a trace file",
        file=path,
        mend="check that it is the right file: none of their required keys is there",
    )


_KINDS_BY_NAME: dict[str, FileKind] = {
    DEFINITION: "definition",
    WORKLOADS: "workloads",
    "solution.json": "solution",
    "traces.jsonl": "traces",
    CONFIG: "config",
}
_KINDS_BY_KEY: tuple[tuple[set[str], FileKind], ...] = (
    ({"sources"}, "solution"),
    ({"spec"}, "solution"),
    ({"reference"}, "definition"),
    ({"workload"}, "traces"),
    ({"uuid"}, "workloads"),
    ({"axes", "outputs"}, "definition"),
    ({"axes", "inputs"}, "workloads"),
)


def _lint_file(path: Path, roots: Sequence[Path]) -> Iterator[LintFinding]:
    kind = kind_of_file(path)
    folder = path.parent
    if kind == "solution":
        yield from lint_solution(path, roots)
    elif kind == "traces":
        yield from lint_traces(path)
    elif kind == "config":
        yield from config_findings(folder)
    elif kind == "parquet":
        yield from _lint_entries(SOURCES["parquet"].entries(path), roots)
    elif (folder / DEFINITION).is_file() and (folder / WORKLOADS).is_file():
        entry = next(iter(SOURCES["folder"].entries(folder)))
        yield from (finding for finding in lint_entry(entry, roots) if Path(finding.file) == path)
    elif kind == "definition":
        yield from lint_definition(path)
    else:
        yield from lint_workloads(path)


def _lint_folder(path: Path, roots: Sequence[Path]) -> Iterator[LintFinding]:
    extra = sorted({*path.glob("solution*.json"), *path.glob("trace*.jsonl")})
    if (path / DEFINITION).exists():
        yield from _lint_entries(SOURCES["folder"].entries(path), roots)
        yield from lint_paths(extra, roots)
        return
    entries = entries_under(path)
    yield from _lint_entries(entries, (path, *roots))
    yield from lint_paths(extra, roots)
    if not entries and not extra:
        raise TaskError(
            "holds no task, solution or trace file",
            file=path,
            mend="name a problem folder, a data root, or the file itself",
        )


def _lint_entries(
    entries: Iterator[TaskEntry] | Sequence[TaskEntry], roots: Sequence[Path]
) -> Iterator[LintFinding]:
    for entry in entries:
        try:
            yield from lint_entry(entry, roots)
        except TaskError as error:
            yield finding_of(error)
