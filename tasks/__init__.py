"""What is asked, and what an answer looks like."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tasks.task import Task

__all__ = ["load"]


def load(name: str, *, data_roots: Sequence[Path] = ()) -> "Task":
    """The task that `name` means; see `tasks.loading.load`."""
    from tasks.loading import load as load_by_name  # late, so that importing one module of tasks stays cheap

    return load_by_name(name, data_roots=data_roots)
