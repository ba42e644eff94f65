"""How far the median of one process can be trusted: a description and a health check, never a verdict."""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv
from scipy.stats import mstats

from guard.statistics.arrays import Floats, finite
from guard.statistics.location import mid_distribution_median

FEWEST_EFFECTIVE_SAMPLES = 30.0
_SMALL_LAG_ONE = 0.5
"""Lag-1 autocorrelation, in units of 1/sqrt(n), below which samples count as independent."""


class MedianInterval(NamedTuple):
    """`level` is None, and `flags` say why, when the samples are too few or too alike to promise one."""

    low: float
    high: float
    level: float | None
    effective_samples: float
    flags: tuple[str, ...]


def median_interval(times: ArrayLike, level: float = 0.95, tick: float = 0.0) -> MedianInterval:
    """Interval for the median of `times` `[n]`, in their unit, in the order taken.

    Independent samples: Hettmansperger and Sheather 1986. Dependent ones: the order statistics that a
    sample of the effective size would use. An end is never nearer to the median than half a `tick`.
    """
    values = finite(np.ravel(np.asarray(times)), at_least=5)
    effective = effective_samples(values)
    if 2.0 ** (1 - values.size) > 1 - level:
        # not even the smallest and the largest hold the median at this level: of five, at 93.75 %
        low, high = values.min(), values.max()
    elif effective == values.size:
        low, high = np.interp(_median_ranks(values.size, level), np.arange(values.size), np.sort(values))
    else:
        low, high = np.quantile(values, _median_shares(effective, level))
    centre = float(mid_distribution_median(values)) if tick else float(np.median(values))
    few = effective < FEWEST_EFFECTIVE_SAMPLES
    flags = (("AUTOCORRELATED" if effective < values.size else "FEW_SAMPLES"),) if few else ()
    return MedianInterval(
        low=min(float(low), centre - tick / 2),
        high=max(float(high), centre + tick / 2),
        level=None if few else level,
        effective_samples=effective,
        flags=flags,
    )


def effective_samples(values: ArrayLike) -> float:
    """How many independent samples would fix the median as well as these `[n]`, at most n.

    What counts is the autocorrelation of "at most the median", not of the values themselves; its time is
    summed by Geyer's initial monotone sequence (1992). A lag-1 value within half of 1/sqrt(n) is taken for
    none, so that independent samples keep the sharper interval.
    """
    samples = finite(np.ravel(np.asarray(values)), at_least=5)
    n = samples.size
    indicator = (samples <= np.median(samples)).astype(np.float64)
    if indicator.std() == 0:
        return float(n)
    correlation = autocorrelation(indicator)
    if correlation[1] <= _SMALL_LAG_ONE / np.sqrt(n):
        return float(n)
    return n / integrated_time(correlation)


def autocorrelation(values: ArrayLike) -> Floats:
    """Autocorrelation of `values` `[n]` at lags 0 ... n-1; 1, 0, 0 ... for a constant."""
    samples = finite(values)
    centred = samples - samples.mean()
    spectrum = np.fft.rfft(centred, 2 * samples.size)
    covariance = np.fft.irfft(spectrum * np.conj(spectrum))[: samples.size]
    if covariance[0] <= 0:
        return np.asarray(np.arange(samples.size) == 0, dtype=np.float64)
    return np.asarray(covariance / covariance[0])


def integrated_time(correlation: Floats) -> float:
    """Samples that carry the information of one independent one; at least 1."""
    pairs = correlation[: correlation.size // 2 * 2].reshape(-1, 2).sum(axis=1)
    monotone = np.minimum.accumulate(pairs)
    positive = np.logical_and.accumulate(monotone > 0)
    return max(1.0, float(2.0 * monotone[positive].sum() - 1.0))


@cache
def _median_ranks(n: int, level: float) -> tuple[float, float]:
    """Between which ranks from 0 of n sorted samples the median lies: the same for all samples, and dear to find.

    Hettmansperger and Sheather interpolate between neighbours, so the ranks of ranks say it all.
    """
    low, high = mstats.median_cihs(np.arange(n, dtype=np.float64), alpha=1 - level)
    return float(low), float(high)


def _median_shares(effective: float, level: float) -> Floats:
    """The two quantiles between which the median of `effective` samples lies at `level`."""
    half = (max(effective, 3.0) + 1) / 2
    return np.asarray(betaincinv(half, half, [(1 - level) / 2, (1 + level) / 2]))
