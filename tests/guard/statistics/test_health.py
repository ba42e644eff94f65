"""Is one process fit to be a sample: warm-up, drift, modes, intervals, clocks, spread."""

import numpy as np
import pytest

from guard.statistics.clocks import arm_effect
from guard.statistics.drift import drift
from guard.statistics.intervals import effective_samples, median_interval
from guard.statistics.modes import iteration_modes, mode_mix_p, process_modes, processes_are_bimodal
from guard.statistics.spread import (
    Variances,
    best_iterations,
    minimal_detectable_effect,
    process_spread,
    robust_spread,
    variance_components,
)
from guard.statistics.warmup import warm_up_cut
from tests.simulations.scenes import correlated


def ramp(rng: np.random.Generator, n: int, size: float, tau: float) -> np.ndarray:
    return np.asarray((1 + size * np.exp(-np.arange(n) / tau)) * (1 + 0.003 * rng.normal(size=n)))


def test_a_clock_ramp_is_cut_off_and_the_rest_is_unbiased() -> None:
    rng = np.random.default_rng(0)
    biases, official, steady = [], [], 0
    for _ in range(100):
        times = ramp(rng, 600, 0.2, 30)
        cut = warm_up_cut(times)
        steady += cut.steady
        biases.append(np.median(times[cut.drop :]) - 1)
        official.append(np.median(times[10:60]) - 1)
    assert steady >= 98
    assert abs(np.mean(biases)) < 0.001
    assert np.mean(official) > 0.05


def test_a_step_of_autotuning_is_cut_off_whole() -> None:
    rng = np.random.default_rng(1)
    times = np.where(np.arange(300) < 40, 1.3, 1.0) * (1 + 0.003 * rng.normal(size=300))
    assert warm_up_cut(times).drop >= 40


def test_a_steady_trace_loses_ten_and_little_more() -> None:
    rng = np.random.default_rng(2)
    cuts = [warm_up_cut(1 + 0.003 * rng.normal(size=200)) for _ in range(100)]
    assert min(cut.drop for cut in cuts) == 10
    assert np.median([cut.drop for cut in cuts]) <= 20
    assert np.mean([cut.steady for cut in cuts]) >= 0.98


def test_a_trace_that_settles_late_is_not_steady() -> None:
    times = np.where(np.arange(200) < 150, 1.3, 1.0) * (1 + 0.001 * np.random.default_rng(3).normal(size=200))
    assert not warm_up_cut(times).steady


@pytest.mark.parametrize("lag_one", [0.0, 0.6, 0.9])
def test_drift_is_not_seen_in_correlated_noise(lag_one: float) -> None:
    runs = 10 + 0.1 * correlated(np.random.default_rng(4), (1_000, 300), lag_one)
    assert np.mean([drift(run).found() for run in runs]) <= 0.025


def test_drift_of_two_standard_deviations_is_seen_with_its_slope() -> None:
    rng = np.random.default_rng(5)
    found = [drift(10 + np.linspace(0, 0.2, 300) + 0.1 * rng.normal(size=300)) for _ in range(200)]
    assert np.mean([one.found() for one in found]) >= 0.95
    assert np.median([one.slope for one in found]) == pytest.approx(0.018, abs=0.003)


def test_a_constant_trace_neither_drifts_nor_breaks_anything() -> None:
    constant = np.full(100, 2.048)
    assert drift(constant) == (1.0, 0.0)
    assert iteration_modes(constant) is None
    assert effective_samples(constant) == 100
    assert median_interval(constant, tick=0.032)[:2] == pytest.approx((2.032, 2.064))


def test_an_interval_on_ticks_is_never_narrower_than_half_a_tick() -> None:
    rng = np.random.default_rng(6)
    for _ in range(200):
        times = 32.0 * np.rint((2_080 + 8 * rng.normal(size=50)) / 32)
        interval = median_interval(times, tick=32.0)
        assert interval.high - interval.low >= 16.0
        assert np.isfinite([interval.low, interval.high]).all()


def test_twelve_samples_promise_no_interval_at_95_percent() -> None:
    interval = median_interval(np.random.default_rng(7).normal(10, 1, 12))
    assert interval.level is None
    assert interval.flags


@pytest.mark.parametrize("times", [[1.0] * 5, [3.0, 1.0, 2.0, 5.0, 4.0], [1.0, 2.0, 3.0, 4.0, 5.0]])
def test_the_ends_of_five_samples_are_all_that_can_be_said(times: list[float]) -> None:
    interval = median_interval(times)
    assert interval[:3] == (min(times), max(times), None)
    assert interval.flags


@pytest.mark.parametrize(("n", "level"), [(6, 0.95), (7, 0.99), (8, 0.99), (11, 0.999)])
def test_so_few_samples_have_an_interval_within_them_at_any_level(n: int, level: float) -> None:
    times = np.random.default_rng(n).permutation(n).astype(float)
    interval = median_interval(times, level)
    assert 0 <= interval.low < interval.high <= n - 1


ONE_MODE = {
    "gauss": lambda rng: 10 + 0.1 * rng.normal(size=200),
    "lognormal": lambda rng: rng.lognormal(0, 0.05, 200),
    "exponential": lambda rng: 5 + rng.exponential(size=200),
    "outliers": lambda rng: np.where(rng.random(200) < 0.02, 4.0, 1 + 0.01 * rng.normal(size=200)),
    "ticks": lambda rng: 32.0 * np.rint((3_000 + 40 * rng.normal(size=200)) / 32),
}


@pytest.mark.parametrize("name", ONE_MODE)
def test_one_mode_is_not_taken_for_two(name: str) -> None:
    rng = np.random.default_rng(8)
    tick = 32.0 if name == "ticks" else 0.0
    assert np.mean([iteration_modes(ONE_MODE[name](rng), tick) is not None for _ in range(200)]) <= 0.02


def test_two_modes_six_deviations_apart_are_found_with_their_shares() -> None:
    rng = np.random.default_rng(9)
    found = [iteration_modes(50 + 6 * (rng.random(200) < 0.3) + rng.normal(size=200)) for _ in range(50)]
    seen = [modes for modes in found if modes]
    assert len(seen) >= 48
    assert np.median([m.low for m in seen]) == pytest.approx(50, abs=0.2)
    assert np.median([m.high for m in seen]) == pytest.approx(56, abs=0.2)
    assert np.median([m.high_count for m in seen]) == pytest.approx(60, abs=6)


def test_processes_in_two_groups_are_told_from_processes_that_merely_differ() -> None:
    rng = np.random.default_rng(10)
    assert processes_are_bimodal(0.003 * rng.normal(size=(2_000, 20))).mean() == 0
    assert processes_are_bimodal(0.01 * rng.normal(size=(2_000, 20))).mean() <= 0.03
    modes = process_modes([0.0, 0.001, 0.002, 0.05, 0.051, 0.052, 0.053, 0.0015])
    assert modes is not None
    assert (modes.low_count, modes.high_count) == (4, 4)
    assert process_modes([0.0, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.05]) is None


def test_a_wide_gap_alone_says_nothing_of_modes() -> None:
    """Why a gap must also be above 1 %, with a quarter of the processes on either side."""
    ordered = np.sort(0.003 * np.random.default_rng(14).normal(size=(2_000, 20)))
    gaps = np.diff(ordered)
    wide = gaps[:, 1:-1].max(axis=1) > 5 * np.median(gaps, axis=1)
    assert wide.mean() > 0.3
    assert not processes_are_bimodal(ordered).any()


def test_another_mix_of_the_same_modes_is_noticed() -> None:
    low, high = [0.0, 0.001, 0.002, 0.003], [0.05, 0.051, 0.052, 0.053]
    assert mode_mix_p([*low, *low], [*high, *high]) < 0.001
    assert mode_mix_p([*low, *high], [*high, *low]) == pytest.approx(1.0)
    assert mode_mix_p(low, low) == 1.0


@pytest.mark.parametrize(
    ("sigma", "processes", "percent"),
    [(0.003, 5, 0.98), (0.003, 8, 0.71), (0.003, 10, 0.62), (0.01, 10, 1.93), (0.01, 20, 1.31)],
)
def test_the_minimal_detectable_effect_is_what_a_power_calculation_gives(
    sigma: float, processes: int, percent: float
) -> None:
    spread = process_spread(sigma, 0.01, 100)
    assert 100 * minimal_detectable_effect(spread, processes, 0.01) == pytest.approx(percent, abs=0.03)


def test_the_robust_spread_is_that_of_the_core() -> None:
    rng = np.random.default_rng(11)
    arms = 0.01 * rng.normal(size=(2, 4_000, 10))
    assert robust_spread(*arms).mean() == pytest.approx(0.01, rel=0.06)
    arms[..., 0] += 0.5
    assert robust_spread(*arms).mean() < 0.014


def test_variances_within_and_between_processes_are_told_apart() -> None:
    rng = np.random.default_rng(12)
    estimates = [
        variance_components(0.01 * rng.normal(size=(10, 1)) + 0.02 * rng.normal(size=(10, 30)))
        for _ in range(400)
    ]
    assert np.mean([v.within for v in estimates]) == pytest.approx(4e-4, rel=0.03)
    assert np.mean([v.between for v in estimates]) == pytest.approx(1e-4, rel=0.1)


def test_iterations_are_bought_where_processes_are_dear() -> None:
    pilot = Variances(within=1e-4, between=9e-6)
    assert best_iterations(pilot, process_cost=250, iteration_cost=0.3) == pytest.approx(97, abs=1)
    assert best_iterations(Variances(1e-4, 1e-4), 250, 0.3) == pytest.approx(29, abs=1)
    assert best_iterations(Variances(1e-4, -1e-6), 250, 0.3) == 1_000_000


def test_arms_are_compared_at_one_clock_even_when_they_feel_it_differently() -> None:
    """Clocks wander by 3 %; the baseline follows the clock, the candidate hardly; the truth is 2 %."""
    rng = np.random.default_rng(13)
    plain, fitted = [], []
    for _ in range(200):
        clock = 1_900 * np.exp(0.03 * correlated(rng, (40,), 0.9))
        candidate = np.tile([False, True, True, False], 10)
        logs = np.where(candidate, 0.02 - 0.3 * np.log(clock / 1_900), -np.log(clock / 1_900))
        logs = logs + 0.003 * rng.normal(size=40)
        fitted.append(arm_effect(logs, candidate, clock, 1_900) - 0.02)
        plain.append(logs[candidate].mean() - logs[~candidate].mean() - 0.02)
    assert np.sqrt(np.mean(np.square(fitted))) < 0.0025
    assert np.sqrt(np.mean(np.square(plain))) > 0.01


def test_one_arm_alone_has_no_effect_to_fit() -> None:
    with pytest.raises(ValueError):
        arm_effect(np.zeros(8), np.ones(8, bool), np.full(8, 1_900.0), 1_900)
