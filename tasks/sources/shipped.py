"""The tasks that come with the project, in `tasks/<subset>/<alias>/`."""

from collections.abc import Iterator
from pathlib import Path

from tasks.sources.base import SUBSET_FOLDERS, SourceKind, TaskEntry
from tasks.sources.folder import DEFINITION, WORKLOADS, FolderSource, count_lines

SHIPPED_ROOT = Path(__file__).parent.parent


class ShippedSource(FolderSource):
    kind: SourceKind = "shipped"

    def entries(self, root: Path = SHIPPED_ROOT) -> Iterator[TaskEntry]:
        for subset in ("L1", "L2", "Quantization", "FlashInfer"):
            for path in sorted((root / subset).glob(f"*/{DEFINITION}")):
                yield TaskEntry(
                    name=path.parent.name,
                    subset=SUBSET_FOLDERS[subset],
                    source=self.kind,
                    workloads=count_lines(path.parent / WORKLOADS),
                    location=str(path.parent),
                    root=str(root),
                )
