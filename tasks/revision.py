"""Which revision of the public data set a task was read from, where that is known."""

import re
from pathlib import Path

from tasks.download import DATA_SET
from tasks.download_record import read_record
from tasks.task import Task

_SNAPSHOT = re.compile(r"/snapshots/([0-9a-f]{40})(?:/|$)")
"""Where huggingface_hub keeps a commit's files."""


def dataset_revision(task: Task) -> str | None:
    """The commit, from the record of a download or from the hub's own folders; None for what says neither.

    `TaskError` when there is a record that cannot be read.
    """
    if task.source == "shipped":
        return None
    for root in map(Path, task.blob_roots):
        for folder in (root, *root.parents[:2]):
            record = read_record(folder)
            if record is not None and (revision := record.revision_of(DATA_SET)) is not None:
                return revision
        if (found := _SNAPSHOT.search(root.as_posix())) is not None:
            return found[1]
    return None
