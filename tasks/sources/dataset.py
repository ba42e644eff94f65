"""A data-set root on disk: `<root>/<subset>/<name>/`, also below the `benchmark` folders used in the wild."""

from collections.abc import Iterator
from pathlib import Path

from tasks.sources.base import SUBSET_FOLDERS, SourceKind, TaskEntry, subset_of
from tasks.sources.folder import DEFINITION, WORKLOADS, FolderSource, count_lines

LAYOUTS = ("", "benchmark", "data/benchmark", "SOL-ExecBench/benchmark", "data/SOL-ExecBench/benchmark")


class DatasetSource(FolderSource):
    kind: SourceKind = "dataset"

    def entries(self, root: Path) -> Iterator[TaskEntry]:
        """Every problem of every subset folder; `root` may also be one subset or a bare list of problems."""
        for layout in LAYOUTS:
            base = root / layout
            for subset in SUBSET_FOLDERS:
                yield from self._problems(base / subset, root)
        yield from self._problems(root, root)

    def _problems(self, folder: Path, root: Path) -> Iterator[TaskEntry]:
        subset = subset_of(folder) if folder.name in SUBSET_FOLDERS else None
        for path in sorted(folder.glob(f"*/{DEFINITION}")):
            name = path.parent.name
            yield TaskEntry(
                name=f"{subset}/{name}" if subset else name,
                subset=subset,
                source=self.kind,
                workloads=count_lines(path.parent / WORKLOADS),
                location=str(path.parent),
                root=str(root),
            )
