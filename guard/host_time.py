"""Work on the host before the first kernel is outside of every span of kernels, but not of the guard's own clock."""

import statistics
from collections.abc import Sequence

from guard.verdict import Reason, ReasonCode

_TIMES = 4.0
_BESIDE_MS = 4.0
"""Launching from Python, planning and copying outputs stay below this; products on a CPU that pay do not."""


def hidden_host_time(
    workload: str, measured_ms: Sequence[float], official_ms: Sequence[float]
) -> Reason | None:
    """Calls as the guard's clock saw them, from request to reply, beside what the kernels are said to have taken.

    The shortest call speaks, of all values that are not the official loop's: one in fifty honest ones waits 5 ms for a
    busy host, and a duel makes five a workload, while work that the answer needs is in every one.
    """
    if not measured_ms or not official_ms:
        return None
    whole, kernels = min(measured_ms), statistics.median(official_ms)
    if whole <= _TIMES * kernels + _BESIDE_MS:
        return None
    said = (
        f"a call takes at least {whole:.3g} ms by the guard's clock and its kernels {kernels:.3g} ms: "
        "the rest is hidden work"
    )
    return Reason(code=ReasonCode.TIMING, message=said, workload=workload)
