"""The seam of timers: a recorder that runs beside the candidate, and a reducer over its raw records in the guard."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

Records = dict[str, Any]
Step = Callable[[int], None]


class BadRecords(Exception):
    """The records do not add up to times: the candidate's doing, not the machine's."""


class Timer(ABC):
    name: str

    @staticmethod
    @abstractmethod
    def is_available(device: str) -> bool:
        """Whether this machine has what the timer needs."""

    @staticmethod
    @abstractmethod
    def record(prepare: Step, call: Step, warmup: int, timed: int) -> Records:
        """Run `prepare(i)` and `call(i)` for warm-up and timed calls; what was seen, as plain JSON. In the worker."""

    @staticmethod
    @abstractmethod
    def times_ms(records: Records) -> list[float]:
        """One time per timed call; `BadRecords` when the records allow none. In the guard; no torch."""

    @staticmethod
    def busy_ms(records: Records) -> list[float] | None:
        """Of each timed call, how long the device worked; None where that is not recorded. In the guard."""
        return None
