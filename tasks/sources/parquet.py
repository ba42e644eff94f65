"""The Hugging Face data set as downloaded: a parquet file a subset, a row a problem, JSON in text columns."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tasks.document import Document, kind_of, parse_json
from tasks.errors import TaskError
from tasks.sources.base import RawTask, SourceKind, TaskEntry, subset_of

_JSON_COLUMNS = ("axes", "inputs", "outputs")
_TEXT_COLUMNS = ("description", "hf_id", "reference", "custom_inputs_entrypoint")
_NEEDED = ("name", "axes", "inputs", "outputs", "reference", "workloads")
_PATTERNS = ("*.parquet", "*/*.parquet", "*/*/*.parquet")


class ParquetSource:
    kind: SourceKind = "parquet"

    def entries(self, root: Path) -> Iterator[TaskEntry]:
        """The rows of `root` when it is a parquet file, else of the parquet files up to two folders below."""
        files = [root] if root.is_file() else sorted({f for p in _PATTERNS for f in root.glob(p)})
        for file in files:
            subset = subset_of(file)
            if root.is_dir() and not _holds_tasks(file):
                continue  # a table of something else may lie there too
            for row, (name, workloads) in enumerate(_columns(file, ("name", "workloads"))):
                yield TaskEntry(
                    name=f"{subset}/{name}" if subset else str(name),
                    subset=subset,
                    source=self.kind,
                    workloads=_count(workloads),
                    location=str(file),
                    root=str(root),
                    row=row,
                )

    def read(self, entry: TaskEntry) -> RawTask:
        file, place = entry.location, f"row {entry.row} ({entry.short_name})"
        names = [*_NEEDED, *(c for c in _TEXT_COLUMNS if c not in _NEEDED)]
        values = dict(zip(names, _columns(Path(file), names)[entry.row or 0], strict=True))
        content: dict[str, Any] = {"name": values["name"]}
        content |= {column: values[column] for column in _TEXT_COLUMNS if values[column] is not None}
        for column in _JSON_COLUMNS:
            content[column] = _from_text(values[column], file, f"{place} {column}")
        workloads = _from_text(values["workloads"], file, f"{place} workloads")
        if not isinstance(workloads, list):
            raise TaskError(
                f"should be a list, not {kind_of(workloads)}",
                file=file,
                field=f"{place} workloads",
                mend="download the file again",
            )
        return RawTask(
            definition=parse_json(json.dumps(content), file, place),
            workloads=tuple(
                parse_json(json.dumps(workload), file, f"{place} workload {number}")
                for number, workload in enumerate(workloads, start=1)
            ),
            folder=str(Path(file).parent),
        )


def is_table(path: Path) -> bool:
    """Whether it is a file that says, by its name or its first bytes, that it is a parquet file."""
    if not path.is_file():
        return False
    if path.suffix == ".parquet":
        return True
    try:
        with path.open("rb") as stream:
            return stream.read(4) == b"PAR1"
    except OSError:
        return False


def _columns(file: Path, names: tuple[str, ...] | list[str]) -> list[tuple[Any, ...]]:
    """The rows of `file` reduced to `names`; an optional column that is missing reads as None."""
    present = _column_names(file)
    missing = sorted(set(names) & set(_NEEDED) - present)
    if missing:
        raise TaskError(
            "is missing", file=file, field=f"column {missing[0]}", mend="download the data set again"
        )
    columns = [name for name in names if name in present]
    rows = _reading(file, lambda parquet: parquet.read_table(file, columns=columns)).to_pylist()
    return [tuple(row.get(name) for name in names) for row in rows]


def _holds_tasks(file: Path) -> bool:
    return set(_NEEDED) <= _column_names(file)


def _column_names(file: Path) -> set[str]:
    return set(_reading(file, lambda parquet: parquet.read_schema(file)).names)


def _reading(file: Path, read: Callable[[Any], Any]) -> Any:
    """What `read` makes of pyarrow's parquet module; `TaskError` when the library or the file fails."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise TaskError(
            "needs pyarrow to be read",
            file=file,
            mend="install the extra: make setup EXTRAS=dev,gpu,flashinfer,data",
        ) from error
    try:
        return read(pyarrow.parquet)
    except (OSError, pyarrow.ArrowException) as error:
        raise TaskError(
            "is no readable parquet file", file=file, mend="download it again or take it out of the data root"
        ) from error


def _from_text(text: Any, file: str, place: str) -> Any:
    """The JSON that a text column holds; a column that is no text (already nested) is taken as it is."""
    if not isinstance(text, str):
        return text
    # wrapped, since the reader of documents wants an object at the top
    document: Document = parse_json(f'{{"value": {text}}}', file, place)
    return document.content["value"]


def _count(workloads: Any) -> int:
    try:
        loaded = json.loads(workloads) if isinstance(workloads, str) else workloads
    except (ValueError, RecursionError):
        return 0
    return len(loaded) if isinstance(loaded, list) else 0
