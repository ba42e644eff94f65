"""What was downloaded into a data root: kept beside it, and checked against it."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from tasks.document import read_text
from tasks.errors import TaskError
from tasks.task import LintFinding
from tasks.value import Value

RECORD = "data-record.json"


class RepositoryRecord(Value):
    repository: str
    folder: str
    """Under the data root."""
    revision: str
    """The commit."""
    asked: str
    """The name by which it was asked for, such as `main`."""


class FileRecord(Value):
    repository: str
    revision: str
    path: str
    """Under the data root, with slashes."""
    size: int
    """Bytes."""
    sha256: str


class DownloadRecord(Value):
    repositories: tuple[RepositoryRecord, ...] = ()
    files: tuple[FileRecord, ...] = ()
    missing: tuple[str, ...] = ()
    """Recorded inputs that workloads name and the hub does not have."""

    def repository(self, name: str) -> RepositoryRecord | None:
        return next((r for r in self.repositories if r.repository == name), None)

    def revision_of(self, repository: str) -> str | None:
        known = self.repository(repository)
        return known.revision if known else None

    def with_repository(self, record: RepositoryRecord) -> "DownloadRecord":
        others = [r for r in self.repositories if r.repository != record.repository]
        return self.model_copy(
            update={"repositories": tuple(sorted((*others, record), key=lambda r: r.repository))}
        )

    def with_file(self, record: FileRecord) -> "DownloadRecord":
        others = [f for f in self.files if f.path != record.path]
        return self.model_copy(update={"files": tuple(sorted((*others, record), key=lambda f: f.path))})


def read_record(root: Path) -> DownloadRecord | None:
    """None when nothing was ever downloaded there."""
    path = root / RECORD
    if not path.exists():
        return None
    try:
        return DownloadRecord.model_validate_json(read_text(path))
    except ValidationError as error:
        raise TaskError(
            "is no record of a download", file=path, mend="remove it and run `kernelarc data download` again"
        ) from error


def write_record(root: Path, record: DownloadRecord) -> None:
    """Atomic: a reader sees the old record or the new one."""
    temporary = root / f".{RECORD}.{os.getpid()}"
    try:
        temporary.write_text(record.model_dump_json(indent=2) + "\n")
        temporary.replace(root / RECORD)
    finally:
        temporary.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def check_data(root: Path) -> tuple[LintFinding, ...]:
    """Every recorded file compared with what is there; no finding of level error means that all is well."""
    record = read_record(root)
    if record is None:
        return (
            _finding("error", "no-record", root / RECORD, "does not exist", "run `kernelarc data download`"),
        )
    return tuple(
        (*_damaged(root, record), *_mixed(root, record), *_unrecorded(root, record), *_lacking(root, record))
    )


def _damaged(root: Path, record: DownloadRecord) -> Iterator[LintFinding]:
    again = "run `kernelarc data download` again"
    for file in record.files:
        path = root / file.path
        if not path.is_file():
            yield _finding("error", "missing-file", path, "is recorded and not there", again)
        elif path.stat().st_size != file.size:
            size = path.stat().st_size
            yield _finding("error", "wrong-size", path, f"has {size} bytes and not {file.size}", again)
        elif sha256_of(path) != file.sha256:
            yield _finding("error", "wrong-content", path, "differs from what was downloaded", again)


def _mixed(root: Path, record: DownloadRecord) -> Iterator[LintFinding]:
    for file in record.files:
        pinned = record.revision_of(file.repository)
        if file.revision != pinned:
            problem = f"is of revision {file.revision[:12]}, the rest of {str(pinned)[:12]}"
            yield _finding(
                "warning", "mixed-revisions", root / file.path, problem, "download its subset again"
            )


def _unrecorded(root: Path, record: DownloadRecord) -> Iterator[LintFinding]:
    recorded = {file.path for file in record.files}
    for path in sorted(root.glob("**/*.parquet")):
        if path.relative_to(root).as_posix() not in recorded:
            yield _finding(
                "note", "unrecorded", path, "was not downloaded here", "remove it if it is not yours"
            )


def _lacking(root: Path, record: DownloadRecord) -> Iterator[LintFinding]:
    if record.missing:
        problem = f"lists {len(record.missing)} recorded inputs that the hub lacks, {record.missing[0]} first"
        mend = "choose another revision, or evaluate with stand-ins"
        yield _finding("warning", "missing-blob", root / RECORD, problem, mend)


def _finding(
    level: Literal["error", "warning", "note"], code: str, file: Path, problem: str, mend: str
) -> LintFinding:
    return LintFinding(level=level, code=code, file=str(file), field="whole file", problem=problem, mend=mend)
