"""Where the settled part of a trace of iterations begins."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from guard.statistics.arrays import finite

_BATCH = 5
FEWEST_DROPPED = 10


class WarmUp(NamedTuple):
    """`steady` is False when the cut asks for more than half of the trace: warm up again, once."""

    drop: int
    steady: bool


def warm_up_cut(times: ArrayLike, at_least: int = FEWEST_DROPPED) -> WarmUp:
    """How many of the first `times` `[n]` to drop: `at_least`, or where MSER-5 cuts if that is later.

    MSER-5 (White 1997) drops what makes the standard error of the rest's mean smallest, in batches of five.
    It sees neither slow clock ramps nor heating: steady clocks and interleaved arms are for those.
    """
    values = finite(np.ravel(np.asarray(times)), at_least=2 * _BATCH)
    batches = values[: values.size // _BATCH * _BATCH].reshape(-1, _BATCH).mean(axis=1)
    cut = _BATCH * _smallest_standard_error(batches)
    return WarmUp(drop=min(max(at_least, cut), values.size), steady=cut <= values.size / 2)


def _smallest_standard_error(batches: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int:
    """The number of leading batches whose removal minimises sum of squares / (how many are left)^2."""
    count = batches.size
    left = np.arange(count, 0, -1)
    # a shift changes no sum of squares, and keeps its difference from losing digits
    centred = batches - np.median(batches)
    total = np.cumsum(centred[::-1])[::-1]
    squares = np.cumsum(centred[::-1] ** 2)[::-1]
    spread = np.maximum(squares - total**2 / left, 0.0) / left**2
    # the last few batches always look steady: five at least must remain, or half of a short trace
    return int(np.argmin(spread[: max(1, count - min(5, count // 2))]))
