"""Where the settled part of a trace of iterations begins."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from guard.statistics.arrays import Floats, finite

_BATCH = 5
FEWEST_DROPPED = 10
_CLEARLY_LESS = 0.5


class WarmUp(NamedTuple):
    """`steady` is False when the cut asks for more than half of the trace: warm up again, once."""

    drop: int
    steady: bool


def warm_up_cut(times: ArrayLike, at_least: int = FEWEST_DROPPED) -> WarmUp:
    """How many of the first `times` `[n]` to drop: `at_least`, or where MSER-5 cuts if that is later.

    MSER-5 (White 1997) drops what makes the standard error of the rest's mean smallest, in batches of five.
    A cut in the second half is believed only when it halves that error squared: short tails are often
    steady by luck.
    It sees neither slow clock ramps nor heating: steady clocks and interleaved arms are for those.
    """
    values = finite(np.ravel(np.asarray(times)), at_least=2 * _BATCH)
    batches = values[: values.size // _BATCH * _BATCH].reshape(-1, _BATCH).mean(axis=1)
    errors = _squared_errors(batches)
    half = batches.size // 2 + 1
    early, late = int(np.argmin(errors[:half])), int(np.argmin(errors))
    cut = _BATCH * (late if errors[late] < _CLEARLY_LESS * errors[early] else early)
    return WarmUp(drop=min(max(at_least, cut), values.size), steady=cut <= values.size / 2)


def _squared_errors(batches: Floats) -> Floats:
    """Squared standard error of the mean of what is left after dropping 0, 1, ... leading batches."""
    count = batches.size
    left = np.arange(count, 0, -1)
    # a shift changes no sum of squares, and keeps its difference from losing digits
    centred = batches - np.median(batches)
    total = np.cumsum(centred[::-1])[::-1]
    squares = np.cumsum(centred[::-1] ** 2)[::-1]
    errors = np.maximum(squares - total**2 / left, 0.0) / left**2
    # the last few batches always look steady: five at least must remain, or half of a short trace
    return np.asarray(errors[: max(1, count - min(5, count // 2))])
