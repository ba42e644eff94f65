"""Where tasks come from: each kind of source lists its tasks and reads one of them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, Protocol

from tasks.document import Document
from tasks.task import LintFinding, Subset
from tasks.value import Value

SourceKind = Literal["shipped", "dataset", "folder", "parquet"]
SUBSET_FOLDERS: dict[str, Subset] = {
    "L1": "L1",
    "L2": "L2",
    "Quant": "Quant",
    "Quantization": "Quant",
    "FlashInfer-Bench": "FlashInfer-Bench",
    "FlashInfer": "FlashInfer-Bench",
}
"""Folder names in use for the four subsets, official and ours."""


class TaskEntry(Value):
    """One task that can be loaded, as listed; nothing of it has been validated."""

    name: str
    """`l2_decoder` for a shipped task, `L1/069_rms_norm` for an official one, the path of a lone folder."""
    subset: Subset | None
    source: SourceKind
    workloads: int
    location: str
    """The problem folder or the parquet file."""
    root: str = ""
    """The data root under which it was found."""
    row: int | None = None

    @property
    def short_name(self) -> str:
        return self.name.rsplit("/", 1)[-1]


class RawTask(Value):
    """A task as its source holds it: JSON, not validated."""

    definition: Document
    workloads: tuple[Document, ...]
    folder: str
    """Where files named by the task lie beside it."""
    findings: tuple[LintFinding, ...] = ()
    """What the source itself noticed, such as a `reference.py` that differs."""


class TaskSource(Protocol):
    kind: SourceKind

    def entries(self, root: Path) -> Iterator[TaskEntry]:
        """The tasks under `root`, unordered; `TaskError` when what lies there cannot be read at all."""
        ...

    def read(self, entry: TaskEntry) -> RawTask:
        """The files of one entry; `TaskError` names the one that cannot be read."""
        ...


def subset_of(path: Path) -> Subset | None:
    """The subset that a folder or file name stands for: `L1`, `Quantization`, `L2-00000-of-00001.parquet`."""
    for part in (path.name, path.parent.name):
        for name in sorted(SUBSET_FOLDERS, key=len, reverse=True):
            rest = part[len(name) :] if part.casefold().startswith(name.casefold()) else None
            if rest is not None and (not rest or rest[0] in "-_."):
                return SUBSET_FOLDERS[name]
    return None
