"""One figure for a verdict: the time that a search minimises."""

import math

from guard.verdict import Verdict

GPU_TIMERS = frozenset({"cupti", "cuda-events"})


def target_latency_ms(verdict: Verdict) -> float | None:
    """Geometric mean over the workloads of the times taken on a GPU; None unless every workload has one."""
    times = [w.latency_ms for w in verdict.workloads if w.timer in GPU_TIMERS]
    measured = [time for time in times if time is not None and time > 0 and math.isfinite(time)]
    if not measured or len(measured) != len(verdict.workloads):
        return None
    return math.exp(math.fsum(map(math.log, measured)) / len(measured))
