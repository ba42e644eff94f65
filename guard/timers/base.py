"""The seam of timers: a recorder that runs beside the candidate, and a reducer over its raw records in the guard."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

Records = dict[str, Any]
Step = Callable[[int], None]


class BadRecords(Exception):
    """The records do not add up to times: the candidate's doing, not the machine's."""


class Worked(NamedTuple):
    """Of one call, in milliseconds; both 0 where it launched nothing."""

    busy_ms: float
    """At least one kernel, copy or memset ran."""
    once_ms: float
    """The same for the last run of each different one: never more than the call's work.

    A call may do its work several times over, as one that captures a graph anew for new pointers.
    """


class CallWatch(ABC):
    """Sees what the device does in calls that are made one by one, with other work between them. In the worker."""

    @abstractmethod
    def around(self, call: Callable[[], object], copies: int = 0) -> None:
        """Make the call, wait until the device is done, and note the window, less the `copies` that end it.

        Those are ours, of what the call returned; to wait before them would hide work that nobody waits for.
        """

    @abstractmethod
    def close(self) -> Records:
        """Stop watching; what was seen, as plain JSON."""


class Timer(ABC):
    name: str
    watches: bool = False
    """Whether it can `watch` calls that are made one by one."""

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

    @staticmethod
    def unsettled(records: Records) -> int:
        """How many timed calls passed before all ran the same; 0 where that is not recorded. In the guard."""
        return 0

    @staticmethod
    def watch() -> CallWatch:
        """Begin to watch calls that are made one by one. In the worker."""
        raise BadRecords("this timer watches no calls")

    @staticmethod
    def worked(records: Records) -> list[Worked]:
        """How long the device worked in each watched call; `BadRecords` when the records do not say. In the guard."""
        raise BadRecords("this timer watches no calls")
