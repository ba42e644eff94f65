"""Latency distributions, process by process, as five figures each."""

from collections.abc import Iterable

import numpy as np

from guard.statistics.arrays import Floats
from guard.verdict import Measurement
from leaderboard.board.entry import Box

_UNIT = 1e-4
_QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


def boxes(deciding: Iterable[Measurement], latency_ms: float | None) -> tuple[Box, ...]:
    """One box a process of one workload, relative to its latency; none where nothing was timed."""
    if not latency_ms:
        return ()
    by_process: dict[int, list[float]] = {}
    for measurement in deciding:
        by_process.setdefault(measurement.process, []).extend(measurement.times_ms)
    samples = [by_process[process] for process in sorted(by_process) if by_process[process]]
    if len({len(times) for times in samples}) == 1:  # as it nearly always is: all of them at once
        return _boxes(np.asarray(samples, np.float64), latency_ms)
    return tuple(box for times in samples for box in _boxes(np.asarray([times], np.float64), latency_ms))


def _boxes(samples: Floats, latency_ms: float) -> tuple[Box, ...]:
    """Of `samples` `[process, call]`: quantiles between neighbours, as numpy's own, at a tenth of their cost."""
    ordered = np.sort(samples, axis=1)
    places = np.asarray(_QUANTILES) * (ordered.shape[1] - 1)
    below = places.astype(int)
    above = np.minimum(below + 1, ordered.shape[1] - 1)
    quantiles = ordered[:, below] + (ordered[:, above] - ordered[:, below]) * (places - below)
    units = ((quantiles / latency_ms - 1.0) / _UNIT).round().astype(int).tolist()
    return tuple((low, q1, median, q3, high) for low, q1, median, q3, high in units)
