"""The part of a process's times that its location is taken from: what came before it settled is left out."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from guard.statistics.arrays import Floats, finite
from guard.statistics.drift import drift
from guard.statistics.warmup import warm_up_cut

_FEWEST = 30
"""Of fewer, in batches of five, MSER-5 sees only luck."""
_LEAST_SLOPE = 0.005
"""A change over the whole trace below the smallest one worth a word is no drift."""


class SteadyPart(NamedTuple):
    """`steady` is False where a cut would take more than half, or what is left still drifts."""

    times: Floats
    dropped: int
    steady: bool


def steady_part(times: ArrayLike, unsettled: int = 0) -> SteadyPart:
    """`times` `[n]` in the order taken, less their warm-up; the raw ones stay as they are.

    `unsettled` of them passed before every call ran the same kernels. The rest of the cut is MSER-5's, without
    a fewest: the calls that are always left out were made before these. At most half is dropped. A part that
    is not steady is no sample to decide by in good conscience, and says so; fewer than 30 times are left alone.
    """
    values = finite(np.ravel(np.asarray(times)))
    if values.size < _FEWEST:
        return SteadyPart(values, 0, True)
    found = warm_up_cut(values, at_least=0)
    cut = max(found.drop, unsettled)
    dropped = min(cut, values.size // 2)
    rest = values[dropped:]
    trend = drift(rest)
    drifts = trend.found() and abs(trend.slope) >= _LEAST_SLOPE
    return SteadyPart(rest, dropped, found.steady and cut <= values.size / 2 and not drifts)
