"""Raw measurements of processes that never ran."""

from collections.abc import Sequence

import numpy as np

from guard.verdict import Measurement, TimerName


def measured(
    centres_ms: Sequence[Sequence[float]],
    iterations: int = 20,
    noise: float = 0.001,
    seed: int = 0,
    timer: TimerName = "cupti",
) -> tuple[Measurement, ...]:
    """`centres_ms[workload][process]` with normal noise between iterations, workloads named w0, w1 ..."""
    rng = np.random.default_rng(seed)
    return tuple(
        Measurement(
            workload=f"w{w}",
            process=p,
            timer=timer,
            kind="official",
            times_ms=tuple((centre * (1 + noise * rng.normal(size=iterations))).tolist()),
        )
        for w, row in enumerate(centres_ms)
        for p, centre in enumerate(row)
    )


def arms(
    slowdowns: Sequence[float], processes: int = 8, sd: float = 0.003, seed: int = 0
) -> tuple[tuple[Measurement, ...], tuple[Measurement, ...]]:
    """Baseline and candidate, one workload for each entry of `slowdowns`, processes differing by `sd`."""
    rng = np.random.default_rng(seed)
    shape = (len(slowdowns), processes)
    baseline = np.exp(sd * rng.normal(size=shape))
    candidate = (1 + np.array(slowdowns))[:, None] * np.exp(sd * rng.normal(size=shape))
    return measured(baseline.tolist(), seed=seed + 1), measured(candidate.tolist(), seed=seed + 2)
