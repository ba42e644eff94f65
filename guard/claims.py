"""Records that a worker laid where the guard reads them: claims, to be believed only within outside bounds."""

import json
from collections.abc import Callable
from typing import TypeVar

from guard.blame import CandidateFailed
from guard.channel import Message
from guard.processes import WorkerProcess
from guard.timers.base import BadRecords, Records
from guard.verdict import ReasonCode

T = TypeVar("T")
_NO_RECORDS = (
    BadRecords, ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError, OSError,
)  # fmt: skip
"""What claims raise that are no records: the worker may have written anything there."""


def believed(worker: WorkerProcess, answer: Message, derive: Callable[[Records], T]) -> T:
    """What `derive` makes of the records that `answer` speaks of; `CandidateFailed` where they are none."""
    try:
        return derive(json.loads(worker.claims(int(answer["claim_bytes"]))))
    except _NO_RECORDS as error:
        raise CandidateFailed(ReasonCode.TIMING, f"timing failed: {error}", "timing") from error
