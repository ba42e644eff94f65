"""Sessions over time: a new driver, and steps in a long series."""

import numpy as np
import pytest

from guard.comparison import CannotReject
from guard.statistics.series import change_points, look_back_z, new_sessions_slower
from tests.simulations.scenes import upper_bound


def gates(step: float, trials: int = 2_000) -> int:
    rng = np.random.default_rng(1)
    sessions = 0.003 * rng.normal(size=(trials, 13))
    return sum(new_sessions_slower(row[10:] + step, row[:10]).slower for row in sessions)


def test_an_unchanged_driver_is_rarely_called_slower() -> None:
    assert upper_bound(gates(0.0), 2_000) <= 0.02


def test_two_percent_by_a_driver_is_found_in_three_sessions() -> None:
    assert gates(0.02) >= 0.95 * 2_000


def test_sessions_too_few_to_show_anything_are_refused() -> None:
    with pytest.raises(CannotReject):
        new_sessions_slower([0.02], np.zeros(20))
    with pytest.raises(CannotReject):
        new_sessions_slower([0.02, 0.02], np.zeros(8))


def test_one_session_far_out_asks_for_more() -> None:
    rng = np.random.default_rng(2)
    old = 0.003 * rng.normal(size=12)
    assert look_back_z(0.03, old) > 5
    assert abs(look_back_z(0.003, old)) < 5
    assert look_back_z(0.0, np.zeros(8)) == 0.0
    assert look_back_z(0.1, np.zeros(8)) == float("inf")


def test_a_step_in_a_long_series_is_dated() -> None:
    rng = np.random.default_rng(3)
    series = 0.003 * rng.normal(size=36)
    series[20:] += 0.02
    (point,) = change_points(series, permutations=199)
    assert abs(point.session - 20) <= 1
    assert point.ratio == pytest.approx(1.02, abs=0.004)


def test_two_steps_are_both_found_in_order() -> None:
    series = 0.002 * np.random.default_rng(4).normal(size=60)
    series[20:] += 0.02
    series[40:] -= 0.03
    assert [round(p.session, -1) for p in change_points(series, permutations=199)] == [20, 40]


def test_series_without_a_step_have_about_as_many_false_ones_as_promised() -> None:
    rng = np.random.default_rng(5)
    found = sum(bool(change_points(0.003 * rng.normal(size=24), 0.05, 99)) for _ in range(150))
    assert found <= 15


def test_a_short_series_has_no_change_points_to_speak_of() -> None:
    with pytest.raises(ValueError, match="at least 24"):
        change_points(np.zeros(23))
