"""Two times a workload: the official span, and how long the device was busy in it; and what their difference says."""

import statistics
from collections.abc import Iterable, Sequence

from guard.verdict import Measurement, deciding, latency_of

_GAP_SHARE = 0.1
FLOOR_MS = 0.0012
"""Span of a kernel that adds to one element, on an H200 (1.17 us by CUPTI; `guard selftest` measures it anew)."""
_FLOORS = 3.0
_SLACK_MS = 0.0005
"""Two clocks of one machine may differ by this much, and by two hundredths."""
_SLACK_SHARE = 0.02


def busy_of(measurements: Iterable[Measurement], workload: str) -> float | None:
    """Milliseconds: the median over processes of each one's median busy time, of the calls that decide its latency.

    None where one of them has no activity records, as those of wall clock and events.
    """
    medians = [statistics.median(m.busy_ms) if m.busy_ms else None for m in deciding(measurements, workload)]
    known = [median for median in medians if median is not None]
    return statistics.median(known) if known and len(known) == len(medians) else None


def timing_flags(measurements: Iterable[Measurement], workload: str) -> tuple[str, ...]:
    """What is remarkable about a workload's times, from raw times alone; nothing where no activities were recorded."""
    own = [m for m in measurements if m.workload == workload]
    official_ms, busy_ms = latency_of(own, workload), busy_of(own, workload)
    if official_ms is None or busy_ms is None:
        return ()
    found = {
        "HOST_BOUND": official_ms - busy_ms > _GAP_SHARE * official_ms,
        "LAUNCH_DOMINATED": official_ms < _FLOORS * FLOOR_MS,
        "NOT_STEADY": _restless(deciding(own, workload)),
        "TIMER_DISAGREE": any(map(_disagrees, own)),
    }
    return tuple(name for name, holds in found.items() if holds)


def _restless(measurements: Sequence[Measurement]) -> bool:
    """Whether most processes were not steady."""
    # imported here: it takes scipy a second to load, and a CPU's times never need it
    from guard.statistics.steady import steady_part

    steady = sum(steady_part(m.times_ms, m.unsettled).steady for m in measurements)
    return 2 * steady < len(measurements)


def _disagrees(measurement: Measurement) -> bool:
    """Whether kernels of one of the guard's own calls are said to have run for longer than it took, or not at all.

    The guard's clock counts all from request to reply, so it says nothing of a call that takes longer by it.
    """
    if measurement.kind != "measured" or measurement.busy_ms is None:
        return False
    calls = zip(measurement.times_ms, measurement.busy_ms, strict=True)
    return any(busy <= 0 or busy > (1 + _SLACK_SHARE) * whole + _SLACK_MS for whole, busy in calls)
