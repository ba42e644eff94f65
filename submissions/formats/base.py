"""The seam for board formats: how a submission becomes the file a board takes, and the way back."""

from collections.abc import Callable
from dataclasses import dataclass

from submissions.submission import Submission
from tasks.solution import Solution


@dataclass(frozen=True)
class Format:
    """`read` undoes `write` for the solution; `TaskError` or `ValueError` for bytes that `write` never makes."""

    name: str
    file: str
    """What the file is called in the submission's folder."""
    write: Callable[[Submission], bytes]
    read: Callable[[bytes], Solution]
