"""Where tasks come from, one file a kind."""

from tasks.sources.base import SourceKind, TaskSource
from tasks.sources.dataset import DatasetSource
from tasks.sources.folder import FolderSource
from tasks.sources.parquet import ParquetSource
from tasks.sources.shipped import ShippedSource

SOURCES: dict[SourceKind, TaskSource] = {
    source.kind: source for source in (ShippedSource(), DatasetSource(), ParquetSource(), FolderSource())
}
