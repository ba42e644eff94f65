"""Two one-sided tests: shown to be the same within a margin, which no failed test of difference shows."""

from math import log1p

import numpy as np
from numpy.typing import ArrayLike

from guard.statistics.arrays import Booleans, Floats, finite
from guard.statistics.hodges_lehmann import Shifts
from guard.statistics.rank_tests import mann_whitney_greater, wilcoxon_greater


def inside_margin(shifts: Shifts, delta: float, alpha: float) -> Booleans:
    """Whether the exact interval, `alpha` off each end, lies inside +-log1p(`delta`); `[...]`."""
    low, high, _ = shifts.interval(alpha)
    return np.asarray((low > -log1p(delta)) & (high < log1p(delta)))


def equivalence_p(candidate: ArrayLike, baseline: ArrayLike, delta: float, paired: bool = False) -> Floats:
    """The larger p of the two tests "slower by delta or more" and "faster by delta or more"; `[...]`.

    To be adjusted by Holm where many workloads are claimed to be reproduced at once.
    """
    upper, lower, margin = finite(candidate), finite(baseline), log1p(delta)
    if paired:
        too_fast = wilcoxon_greater(upper - lower + margin)
        too_slow = wilcoxon_greater(lower - upper + margin)
    else:
        too_fast = mann_whitney_greater(upper + margin, lower)
        too_slow = mann_whitney_greater(lower + margin, upper)
    return np.maximum(too_fast, too_slow)
