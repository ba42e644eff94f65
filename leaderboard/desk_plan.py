"""What to send next within the portal's daily quota: most expected gain first."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from leaderboard.desk import Ledger
from tasks.value import Value

AT_ONCE = 5
"""Results a UTC day that the portal gives without delay (as its users describe it)."""
DELAY_STEP, LONGEST_DELAY = timedelta(minutes=10), timedelta(minutes=60)
MOST_IN_FLIGHT = 5


class Ready(NamedTuple):
    """A submission that could be sent; low and high ends of the score it may get, None when not known."""

    file_digest: str
    name: str
    task: str
    low: float | None
    high: float | None


class Step(Value):
    """One upload of the plan."""

    name: str
    task: str
    best: float
    """What the task has already."""
    gain: float | None
    """Expected gain in the task's score; None when nothing is known of what it would get."""
    delay_minutes: int | None
    """How long the portal holds its result back; None when something must come back first."""


def plan(ledger: Ledger, ready: Iterable[Ready], now: datetime) -> tuple[Step, ...]:
    """What to send next, most expected gain first, those of unknown gain last; what was sent is left out."""
    known = {s.file_digest for s in ledger.sent}
    open_ones = [(r, ledger.best(r.task)) for r in ready if r.file_digest not in known]
    gains = [(r, best, expected_gain(r.low, r.high, best)) for r, best in open_ones]
    gains.sort(key=lambda item: (item[2] is None, -(item[2] or 0.0), item[0].name))
    used, free = ledger.used_on(now), MOST_IN_FLIGHT - len(ledger.in_flight)
    return tuple(
        Step(
            name=r.name,
            task=r.task,
            best=best,
            gain=gain,
            delay_minutes=_minutes(delay(used + place + 1)) if place < free else None,
        )
        for place, (r, best, gain) in enumerate(gains)
    )


def delay(number: int) -> timedelta:
    """How long the portal holds back the `number`th result of a UTC day."""
    return min(max(number - AT_ONCE, 0) * DELAY_STEP, LONGEST_DELAY)


def expected_gain(low: float | None, high: float | None, best: float) -> float | None:
    """Of a score anywhere between its ends, how much it is above `best` on average: a worse one costs nothing."""
    if low is None or high is None:
        return None
    if best >= high:
        return 0.0
    if best <= low:
        return (low + high) / 2 - best
    return (high - best) ** 2 / (2 * (high - low))


def _minutes(time: timedelta) -> int:
    return int(time.total_seconds() // 60)
