"""An official time shorter than the work of one honest call was not spent on that work."""

import statistics
from collections.abc import Sequence

from guard.verdict import Reason, ReasonCode

_SHARE = 0.9
_SLACK_MS = 0.001
"""A few ticks of the clock, and kernels that end while the next one starts."""


def replayed(workload: str, official_ms: Sequence[float], worked_ms: Sequence[float]) -> Reason | None:
    """The official times of one process beside `worked_ms`, the device's work in each of the guard's own calls there.

    Of those the shortest counts, with every different kernel once: all have fresh values, so every one has to do
    the work. The official span holds that work and the gaps as well; gaps alone never make it shorter. None
    where nothing is known of the guard's own calls.
    """
    if not official_ms or not worked_ms:
        return None
    span, work = statistics.median(official_ms), min(worked_ms)
    if span + _SLACK_MS >= _SHARE * work:
        return None
    said = (
        f"the official loop takes {span:.3g} ms a call, and on fresh values the device works for {work:.3g} ms: "
        "the timed calls replay a result"
    )
    return Reason(code=ReasonCode.TIMING, message=said, workload=workload)
