"""What can be said of one process: its location on a ticking clock, and the interval of its median."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from guard.statistics.intervals import median_interval
from guard.statistics.location import log_location, mid_distribution_median
from tests.simulations.scenes import Array, Rng, correlated, ticked

RUNS = 4_000
NORMAL_WORK = {
    "gaussian": lambda rng, shape: 1 + 0.01 * rng.normal(size=shape),
    "lognormal": lambda rng, shape: np.exp(0.05 * rng.normal(size=shape)),
    "exponential": lambda rng, shape: 5 + rng.exponential(size=shape),
    "outliers": lambda rng, shape: np.where(rng.random(shape) < 0.02, 4.0, 1 + 0.01 * rng.normal(size=shape)),
    "bimodal": lambda rng, shape: 0.03 * (rng.random(shape) < 0.3) + 0.005 * rng.normal(size=shape),
}  # fmt: skip


@cache
def median_of(draw: Callable[[Rng, tuple[int, int]], Array]) -> float:
    """Of four million samples."""
    return float(np.median(draw(np.random.default_rng(1), (4_000, 1_000))))


def coverage(draw: Callable[[Rng, tuple[int, int]], Array], n: int) -> float:
    """Share of 95 % intervals from n samples that hold the true median."""
    truth = median_of(draw)
    runs = draw(np.random.default_rng(2), (RUNS, n))
    intervals = [median_interval(run) for run in runs]
    return float(np.mean([i.low <= truth <= i.high for i in intervals]))


@pytest.mark.parametrize("n", [50, 100, 300])
@pytest.mark.parametrize("name", NORMAL_WORK)
def test_independent_samples_are_covered_as_promised(name: str, n: int) -> None:
    assert 0.94 <= coverage(NORMAL_WORK[name], n) <= 0.96


@pytest.mark.parametrize(("lag_one", "n", "least"), [(0.3, 100, 0.935), (0.3, 300, 0.94), (0.6, 300, 0.925)])
def test_dependent_samples_are_covered_nearly_as_promised(lag_one: float, n: int, least: float) -> None:
    assert coverage(lambda rng, shape: correlated(rng, shape, lag_one), n) >= least


def test_strongly_dependent_samples_are_flagged_and_promised_nothing() -> None:
    runs = correlated(np.random.default_rng(3), (500, 100), 0.9)
    intervals = [median_interval(run) for run in runs]
    flagged = [i for i in intervals if "AUTOCORRELATED" in i.flags]
    assert len(flagged) >= 0.95 * len(intervals)
    assert all(i.level is None for i in flagged)


@pytest.mark.parametrize("centre", [2_000.0, 2_080.0, 3_000.0, 4_010.0, 6_000.0])
def test_a_kernel_of_a_few_microseconds_is_located_on_a_clock_of_32_ns(centre: float) -> None:
    """100 iterations of sd 10 ns with 1 % outliers of thrice the time; error against the true median."""
    rng = np.random.default_rng(4)
    times = centre + 10 * rng.normal(size=(4_000, 100))
    read = ticked(np.where(rng.random(times.shape) < 0.01, 3 * times, times))
    smeared = read + rng.integers(-1, 2, size=read.shape)
    for samples, tick in ((read, None), (read, 32.0), (smeared, 32.0)):
        error = np.exp(log_location(samples, tick)) / centre - 1
        assert np.isfinite(error).all()
        assert np.sqrt(np.mean(error**2)) <= 0.0015


def test_half_a_percent_is_seen_between_two_kernels_of_four_microseconds() -> None:
    rng = np.random.default_rng(5)
    ratios = []
    for centre in (4_000.0, 4_020.0):
        times = ticked(centre + 10 * rng.normal(size=(2_000, 100)))
        ratios.append(mid_distribution_median(times, 32.0))
    change = ratios[1] / ratios[0] - 1
    assert abs(change.mean() - 0.005) < 0.0005
    assert (change > 0.0025).mean() > 0.95


def test_the_plain_median_is_several_times_worse_on_ticks() -> None:
    rng = np.random.default_rng(6)
    read = ticked(2_090 + 10 * rng.normal(size=(2_000, 100)))
    plain = np.sqrt(np.mean((np.median(read, axis=1) / 2_090 - 1) ** 2))
    ours = np.sqrt(np.mean((mid_distribution_median(read) / 2_090 - 1) ** 2))
    assert plain > 3 * ours
