"""One number for one process."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.statistics.location import log_location, mid_distribution_median, official_median, timer_tick_ns


@given(st.lists(st.floats(0.1, 100), min_size=1, max_size=40, unique=True))
def test_without_repeats_it_is_the_plain_median(times: list[float]) -> None:
    assert float(mid_distribution_median(times)) == pytest.approx(np.median(times))


@given(st.lists(st.integers(1, 5), min_size=1, max_size=60))
def test_with_repeats_it_interpolates_the_mid_distribution(times: list[int]) -> None:
    values, counts = np.unique(times, return_counts=True)
    middle = np.cumsum(counts) - counts / 2
    expected = np.interp(0.5, middle / len(times), values)
    assert float(mid_distribution_median(times)) == pytest.approx(expected)


def test_it_works_on_the_last_axis_of_a_batch() -> None:
    times = np.random.default_rng(0).integers(60, 70, (3, 4, 50)) * 32.0
    located = mid_distribution_median(times)
    assert located.shape == (3, 4)
    assert located[1, 2] == mid_distribution_median(times[1, 2])


def test_constant_times_are_their_own_location() -> None:
    assert float(mid_distribution_median([2_048.0] * 50, tick=32.0)) == 2_048.0
    assert float(mid_distribution_median([3.5])) == 3.5


def test_a_smear_of_one_nanosecond_is_undone_by_the_tick() -> None:
    times = np.array([2_080.0] * 40 + [2_112.0] * 60)
    smeared = times + np.tile([-1.0, 0.0, 1.0, 0.0], 25)
    assert float(mid_distribution_median(smeared, tick=32.0)) == pytest.approx(
        float(mid_distribution_median(times))
    )


def test_the_official_median_is_the_plain_one() -> None:
    assert official_median([3.0, 1.0, 2.0, 10.0]) == 2.5


@pytest.mark.parametrize("tick", [32, 64, 1_024])
def test_the_tick_of_a_clock_is_found(tick: int) -> None:
    rng = np.random.default_rng(tick)
    times = tick * rng.integers(100, 120, 200) + rng.integers(-1, 2, 200)
    assert timer_tick_ns(times) == tick


def test_a_clock_of_one_nanosecond_a_constant_and_a_handful_have_no_tick() -> None:
    assert timer_tick_ns(np.random.default_rng(0).integers(2_000, 9_000, 500)) is None
    assert timer_tick_ns(np.full(500, 2_048)) is None
    assert timer_tick_ns([32, 64, 96, 128]) is None


@pytest.mark.parametrize("times", [[], [1.0, float("nan")], [float("inf")]])
def test_times_that_are_no_times_are_refused(times: list[float]) -> None:
    with pytest.raises(ValueError):
        mid_distribution_median(times)


def test_a_time_of_zero_has_no_logarithm_and_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        log_location([0.0, 0.0, 0.0])
