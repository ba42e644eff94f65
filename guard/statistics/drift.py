"""Does a trace of iterations still drift after its warm-up?"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kendalltau, theilslopes

from guard.statistics.arrays import finite

_BLOCKS = 10


class Drift(NamedTuple):
    """`slope` is the relative change over the whole trace (0.01 is 1 %)."""

    p: float
    slope: float

    def found(self, alpha: float = 0.01) -> bool:
        """Discard the block, heat again, and retry once."""
        return self.p <= alpha


def drift(times: ArrayLike) -> Drift:
    """Kendall's test on ten block medians of `times` `[n]`, and the Theil-Sen slope through them.

    On blocks and not on iterations: under lag-1 correlation of 0.9 a test on iterations cries wolf half
    the time, on block medians 1 %.
    """
    values = finite(np.ravel(np.asarray(times)), at_least=_BLOCKS)
    medians = np.array([np.median(block) for block in np.array_split(values, _BLOCKS)])
    if np.ptp(medians) == 0:
        return Drift(1.0, 0.0)
    place = np.arange(_BLOCKS)
    p = float(kendalltau(place, medians).pvalue)
    slope = float(theilslopes(medians, place)[0])
    return Drift(p, slope * (_BLOCKS - 1) / float(np.median(medians)))
