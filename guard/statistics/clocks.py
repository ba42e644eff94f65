"""Arms compared at one clock, when clocks could be measured and not locked."""

import numpy as np
from numpy.typing import ArrayLike

from guard.statistics.arrays import Floats, finite


def arm_effect(log_times: ArrayLike, is_candidate: ArrayLike, clock_mhz: ArrayLike, at_mhz: float) -> float:
    """Logarithm of candidate over baseline at `at_mhz`, each arm with its own dependence on the clock.

    All arrays `[n]`, one entry a process or block. Least squares of log y on arm and log(f/f0) per arm;
    never a division by frequency, which over-corrects memory-bound kernels by a tenth.
    """
    y, clock = finite(log_times, at_least=4), finite(clock_mhz, at_least=4)
    candidate = np.asarray(is_candidate, dtype=np.float64)
    if not (y.shape == clock.shape == candidate.shape) or not 0 < candidate.mean() < 1:
        raise ValueError("needs equally many times, arms and clocks, and both arms")
    relative = np.log(clock / at_mhz)
    columns: Floats = np.stack(
        [np.ones_like(y), candidate, relative * candidate, relative * (1 - candidate)], axis=1
    )
    solution, *_ = np.linalg.lstsq(columns, y, rcond=None)
    return float(solution[1])
