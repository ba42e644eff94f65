"""Where the times of one process lie."""

import statistics
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from guard.statistics.arrays import Floats, finite

_TICKED_SHARE = 0.95
_FEWEST_FOR_A_TICK = 50
_FEWEST_MULTIPLES = 4


def official_median(times_ms: Sequence[float]) -> float:
    """The figure that the official evaluator reports: the plain median of the timed calls."""
    return statistics.median(times_ms)


def mid_distribution_median(times: ArrayLike, tick: float | None = None) -> Floats:
    """The median of the mid-distribution function over the last axis: `[..., n]` to `[...]`.

    Where values repeat, as they do on a clock that ticks, the share of samples on the neighbouring ticks
    says where between them the centre lies; without repeats it is the plain median. With a `tick` (same
    unit) times are first laid on its multiples, as clock conversion smears them by a nanosecond.
    Parzen 2004, Quantile probability and statistical data modeling.
    """
    values = finite(times)
    if tick:
        values = np.rint(values / tick) * tick
    ordered = np.sort(values, axis=-1)
    share = _mid_shares(ordered)
    below = np.sum(share <= 0.5, axis=-1, keepdims=True) - 1
    above = ordered.shape[-1] - np.sum(share >= 0.5, axis=-1, keepdims=True)
    low, high = (np.take_along_axis(ordered, at, -1)[..., 0] for at in (below, above))
    share_low, share_high = (np.take_along_axis(share, at, -1)[..., 0] for at in (below, above))
    gap = share_high - share_low
    fraction = np.divide(0.5 - share_low, gap, out=np.zeros_like(gap), where=gap > 0)
    return np.asarray(low + fraction * (high - low))


def log_location(times_ms: ArrayLike, tick_ms: float | None = None) -> Floats:
    """Natural logarithm of the mid-distribution median; `ValueError` unless every time is positive."""
    centre = mid_distribution_median(times_ms, tick_ms)
    if not (centre > 0).all():
        raise ValueError("times must be positive")
    return np.asarray(np.log(centre))


def timer_tick_ns(times_ns: ArrayLike) -> int | None:
    """The largest power of two, 8 to 1,024, of which 95 % of the times are multiples, give or take 1 ns.

    None where there is no such, and for times of which nothing can be said: fewer than 50, or fewer than
    four different multiples.
    """
    times = np.ravel(np.asarray(times_ns, dtype=np.float64))
    if times.size < _FEWEST_FOR_A_TICK:
        return None
    for tick in (1024, 512, 256, 128, 64, 32, 16, 8):
        multiples = np.rint(times / tick)
        near = np.abs(times - multiples * tick) <= 1.0 + 1e-6
        if near.mean() > _TICKED_SHARE and np.unique(multiples[near]).size >= _FEWEST_MULTIPLES:
            return tick
    return None


def _mid_shares(ordered: Floats) -> Floats:
    """Of each sorted sample, the share of samples below it plus half the share equal to it."""
    n = ordered.shape[-1]
    place = np.broadcast_to(np.arange(n, dtype=np.int32), ordered.shape)
    fresh = np.ones(ordered.shape, dtype=bool)
    fresh[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    first = np.maximum.accumulate(np.where(fresh, place, np.int32(0)), axis=-1)
    closing = np.ones(ordered.shape, dtype=bool)
    closing[..., :-1] = fresh[..., 1:]
    last = np.where(closing, place, np.int32(n - 1))
    last = np.minimum.accumulate(last[..., ::-1], axis=-1)[..., ::-1]
    return np.asarray((first + last + 1) / (2.0 * n))
