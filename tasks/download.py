"""Fetching the public data set and its recorded inputs, pinned and resumable. Nothing of it is ever shipped."""

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath

from tasks.download_record import (
    DownloadRecord,
    FileRecord,
    RepositoryRecord,
    check_data,
    read_record,
    sha256_of,
    write_record,
)
from tasks.errors import TaskError
from tasks.hub import Hub, HubFile, HuggingFaceHub, Snapshot
from tasks.sources.base import subset_of
from tasks.sources.parquet import ParquetSource
from tasks.task import Subset
from tasks.validation import validated
from tasks.workload import SafetensorsInput, Workload

__all__ = ["DATA_SET", "RECORDED_INPUTS", "SUBSETS", "DownloadRecord", "check_data", "download"]

DATA_SET = "nvidia/SOL-ExecBench"
RECORDED_INPUTS = "flashinfer-ai/flashinfer-trace"
SUBSETS: tuple[Subset, ...] = ("L1", "L2", "Quant", "FlashInfer-Bench")
_FOLDERS = {DATA_SET: "SOL-ExecBench", RECORDED_INPUTS: "flashinfer-trace"}
_DEFAULT_REVISIONS = {DATA_SET: "main", RECORDED_INPUTS: "1.0"}
"""Asked for the first time only; the commit found is recorded and kept from then on. `1.0` is the tag that
the public evaluator's own download script names."""

Progress = Callable[[str], None]


def download(
    root: Path,
    *,
    subsets: Sequence[Subset] = SUBSETS,
    blobs: bool = True,
    revision: str | None = None,
    blob_revision: str | None = None,
    hub: Hub | None = None,
    progress: Progress | None = None,
) -> DownloadRecord:
    """Fetch `subsets`, and with `blobs` the recorded inputs that their workloads name, into `root`.

    A revision that is not given is the recorded one, so that running it again changes nothing; giving one moves
    the root to it. The record is written after every file: an interrupted download is taken up by the same
    call. `TaskError` says what cannot be had; a full disk is an `OSError` with ENOSPC.
    """
    root.mkdir(parents=True, exist_ok=True)
    say = progress or (lambda _: None)
    work = _Download(root, hub or HuggingFaceHub(), say)
    data = work.pin(DATA_SET, revision)
    wanted = [file for file in data.files if _is_wanted(file, subsets)]
    if not wanted:
        raise TaskError(
            f"holds no parquet file of {', '.join(subsets)}",
            file=f"{DATA_SET} {data.revision}",
            mend="choose another revision",
        )
    tables = work.fetch(data, wanted)
    paths = _recorded_inputs(tables) if blobs else []
    if paths:
        trace = work.pin(RECORDED_INPUTS, blob_revision)
        found = {path: _on_hub(path, trace) for path in paths}
        work.fetch(trace, [file for file in found.values() if file is not None])
        work.save(missing=tuple(path for path, file in found.items() if file is None))
    return work.record


class _Download:
    """One run: the root, the hub, and the record as it grows."""

    def __init__(self, root: Path, hub: Hub, say: Progress) -> None:
        self.root, self.hub, self.say = root, hub, say
        self.record = read_record(root) or DownloadRecord()

    def pin(self, repository: str, asked: str | None) -> Snapshot:
        """The commit asked for, else the recorded one, else the default; recorded before anything is fetched."""
        known = self.record.repository(repository)
        named = asked or (known.asked if known else _DEFAULT_REVISIONS[repository])
        snapshot = self.hub.snapshot(repository, known.revision if known and not asked else named)
        self.record = self.record.with_repository(
            RepositoryRecord(
                repository=repository,
                folder=_FOLDERS[repository],
                revision=snapshot.revision,
                asked=named,
            )
        )
        self.save()
        return snapshot

    def fetch(self, snapshot: Snapshot, files: Sequence[HubFile]) -> list[Path]:
        """The paths of all `files`, those fetched that are not there already."""
        missing = [file for file in files if not self._is_there(snapshot, file)]
        _need_space(self.root, sum(file.size or 0 for file in missing))
        for number, file in enumerate(missing, start=1):
            self.say(f"[{number}/{len(missing)}] {file.path}")
            self._fetch_one(snapshot, file)
        return [self._path(snapshot.repository, file) for file in files]

    def save(self, **changes: tuple[str, ...]) -> None:
        self.record = self.record.model_copy(update=changes)
        write_record(self.root, self.record)

    def _fetch_one(self, snapshot: Snapshot, file: HubFile) -> None:
        folder = self.root / _FOLDERS[snapshot.repository]
        path = self.hub.fetch(snapshot.repository, snapshot.revision, file.path, folder)
        digest = sha256_of(path)
        if file.sha256 is not None and digest != file.sha256:
            path.unlink()
            raise TaskError("arrived damaged and was removed", file=path, mend="run the download again")
        self.record = self.record.with_file(
            FileRecord(
                repository=snapshot.repository,
                revision=snapshot.revision,
                path=path.relative_to(self.root).as_posix(),
                size=path.stat().st_size,
                sha256=digest,
            )
        )
        self.save()

    def _is_there(self, snapshot: Snapshot, file: HubFile) -> bool:
        path = self._path(snapshot.repository, file)
        relative = path.relative_to(self.root).as_posix()
        known = next((f for f in self.record.files if f.path == relative), None)
        if known is None or known.revision != snapshot.revision or not path.is_file():
            return False
        return path.stat().st_size == known.size and sha256_of(path) == known.sha256

    def _path(self, repository: str, file: HubFile) -> Path:
        if PurePosixPath(file.path).is_absolute() or ".." in PurePosixPath(file.path).parts:
            raise TaskError("climbs out of the data root", file=file.path, mend="choose another revision")
        return self.root / _FOLDERS[repository] / file.path


def _is_wanted(file: HubFile, subsets: Sequence[Subset]) -> bool:
    return file.path.endswith(".parquet") and subset_of(Path(file.path)) in subsets


def _recorded_inputs(tables: Sequence[Path]) -> list[str]:
    """The safetensors paths that any workload of `tables` names, each once."""
    source, paths = ParquetSource(), dict[str, None]()
    for table in tables:
        for entry in source.entries(table):
            for document in source.read(entry).workloads:
                inputs = validated(Workload, document).inputs.values()
                paths |= dict.fromkeys(i.path for i in inputs if isinstance(i, SafetensorsInput))
    return list(paths)


def _on_hub(path: str, snapshot: Snapshot) -> HubFile | None:
    """The file that `path` names; workloads put folders before it that the repository does not have."""
    files = {file.path: file for file in snapshot.files}
    parts = PurePosixPath(path).parts
    names = ("/".join(parts[start:]) for start in range(len(parts)))
    return next((files[name] for name in names if name in files), None)


def _need_space(root: Path, size: int) -> None:
    free = shutil.disk_usage(root).free
    if size > free:
        raise OSError(
            errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}: {size} bytes to fetch, {free} free", str(root)
        )
