"""Does a trace of iterations still drift after its warm-up?"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kendalltau

from guard.statistics.arrays import Floats, finite

_BLOCKS = 10
_EARLIER, _LATER = np.triu_indices(_BLOCKS, 1)


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
    medians = _block_medians(values)
    if np.ptp(medians) == 0:
        return Drift(1.0, 0.0)
    rises = medians[_LATER] - medians[_EARLIER]
    slope = float(np.median(rises / (_LATER - _EARLIER)))
    return Drift(_p_of(medians, rises), slope * (_BLOCKS - 1) / float(np.median(medians)))


def _block_medians(values: Floats) -> Floats:
    if values.size % _BLOCKS == 0:
        return np.asarray(np.median(values.reshape(_BLOCKS, -1), axis=1))
    return np.array([np.median(block) for block in np.array_split(values, _BLOCKS)])


def _p_of(medians: Floats, rises: Floats) -> float:
    if (rises == 0).any():
        return float(kendalltau(np.arange(_BLOCKS), medians).pvalue)
    return _p_without_ties(int((rises < 0).sum()))


@cache
def _p_without_ties(falls: int) -> float:
    """Of any order with so many pairs that fall: the test knows no more of it, and asking scipy is dear."""
    order: list[int] = []
    for place in reversed(range(_BLOCKS)):
        jump = min(falls, _BLOCKS - 1 - place)
        falls -= jump
        order.insert(jump, place)
    return float(kendalltau(np.arange(_BLOCKS), order).pvalue)
