"""A problem folder: `definition.json`, `workload.jsonl`, and perhaps `reference.py` and `config.json`."""

from collections.abc import Iterator
from pathlib import Path

from tasks.document import LARGEST_FILE, Document, read_json, read_json_lines, read_text
from tasks.sources.base import SUBSET_FOLDERS, RawTask, SourceKind, TaskEntry
from tasks.task import LintFinding

DEFINITION = "definition.json"
WORKLOADS = "workload.jsonl"
REFERENCE = "reference.py"
CONFIG = "config.json"
_OFFICIAL_CONFIG = {
    "warmup_runs": 10,
    "iterations": 50,
    "lock_clocks": False,
    "benchmark_reference": True,
    "seed": 200,
}
"""The keys that the public evaluator knows, with its defaults; it stops at any other."""


class FolderSource:
    """A folder that the caller names; also the reader for every source that keeps its tasks in folders."""

    kind: SourceKind = "folder"

    def entries(self, root: Path) -> Iterator[TaskEntry]:
        """The one task in `root`."""
        yield TaskEntry(
            name=str(root),
            subset=SUBSET_FOLDERS.get(root.absolute().parent.name),
            source=self.kind,
            workloads=count_lines(root / WORKLOADS),
            location=str(root),
        )

    def read(self, entry: TaskEntry) -> RawTask:
        folder = Path(entry.location)
        definition = read_json(folder / DEFINITION)
        return RawTask(
            definition=definition,
            workloads=read_json_lines(folder / WORKLOADS),
            folder=str(folder),
            findings=(*_reference_findings(folder, definition), *config_findings(folder)),
        )


def count_lines(path: Path) -> int:
    """Lines that are not blank; 0 when the file cannot be read: loading it says why."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_FILE:  # a pipe would wait for ever
            return 0
        with path.open("rb") as lines:
            return sum(1 for line in lines if line.strip())
    except OSError:
        return 0


def _reference_findings(folder: Path, definition: Document) -> Iterator[LintFinding]:
    path = folder / REFERENCE
    if not path.is_file():
        return
    if read_text(path).strip() != str(definition.content.get("reference", "")).strip():
        yield LintFinding(
            level="warning",
            code="reference-differs",
            file=str(path),
            field="whole file",
            problem="differs from the definition's `reference`, which alone is judged against",
            mend=f"bring it in line with {DEFINITION} or remove it",
        )


def config_findings(folder: Path) -> Iterator[LintFinding]:
    """What an optional `config.json` says that will not happen here, or would stop the public evaluator."""
    if not (folder / CONFIG).is_file():
        return
    config = read_json(folder / CONFIG)
    for key, value in config.content.items():
        if key not in _OFFICIAL_CONFIG:
            yield config.finding(
                "warning",
                "unknown-key",
                key,
                "is unknown to the public evaluator, which stops at it",
                f"use one of {', '.join(_OFFICIAL_CONFIG)} or remove it",
            )
        elif value != _OFFICIAL_CONFIG[key]:
            yield config.finding(
                "note",
                "config-ignored",
                key,
                "differs from the default, and is not used here",
                "choose with --protocol instead",
            )
