"""Latency distributions, process by process, as five figures each."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np

from guard.statistics.arrays import Floats
from guard.verdict import Measurement
from leaderboard.board.entry import Box
from leaderboard.snapshot import process_samples

_UNIT = 1e-4
_QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


def boxes(deciding: Iterable[Measurement], latency_ms: float | None) -> tuple[Box, ...]:
    """One box a process of one workload, relative to its latency; none where nothing was timed."""
    if not latency_ms:
        return ()
    samples = process_samples(deciding)
    if len({len(times) for times in samples}) == 1:  # as it nearly always is: all of them at once
        return _boxes(np.asarray(samples, np.float64), latency_ms)
    return tuple(box for times in samples for box in _boxes(np.asarray([times], np.float64), latency_ms))


def _boxes(samples: Floats, latency_ms: float) -> tuple[Box, ...]:
    """Of `samples` `[process, call]`: quantiles between neighbours, as numpy's own, at a tenth of their cost."""
    ordered = np.sort(samples, axis=1)
    below, above, share = _places(ordered.shape[1])
    lower = ordered[:, below]
    quantiles = lower + (ordered[:, above] - lower) * share
    units = np.rint((quantiles / latency_ms - 1.0) / _UNIT).astype(int).tolist()
    return tuple(map(tuple, units))


@cache
def _places(count: int) -> tuple[Any, Any, Floats]:
    """Of each quantile among `count` ordered values: the one below, the one above, and how far between."""
    places = np.asarray(_QUANTILES) * (count - 1)
    below = places.astype(int)
    return below, np.minimum(below + 1, count - 1), places - below
