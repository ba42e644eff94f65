"""From raw measurements to what is said of two candidates."""

import subprocess
import sys

import numpy as np
import pytest

from guard.comparison import FIXED, GATE, CannotReject, Comparison, Outcome, Rule
from guard.statistics.decision import OUTCOMES, clearly_slower, decide
from guard.statistics.equivalence import equivalence_p, inside_margin
from guard.statistics.experiment import arms_of, compare_measurements, next_look
from guard.statistics.hodges_lehmann import shifts_between, shifts_of_pairs
from guard.statistics.order import interleaved_order
from guard.verdict import Measurement
from tests.guard.statistics.samples import arms, measured


def outcomes(comparison: Comparison) -> list[Outcome]:
    return [w.outcome for w in comparison.workloads]


def test_slower_faster_and_unchanged_workloads_are_told_apart() -> None:
    comparison = compare_measurements(*arms([0.03, -0.03, 0.0]), GATE)
    assert outcomes(comparison) == [Outcome.SLOWER, Outcome.FASTER, Outcome.EQUIVALENT]
    assert comparison.family is Outcome.SLOWER
    assert not comparison.passes
    assert comparison.looks_taken == (8,)
    assert comparison.overall.outcome is Outcome.EQUIVALENT


def test_a_ratio_comes_with_its_exact_interval() -> None:
    slower = compare_measurements(*arms([0.03], seed=1), GATE).workloads[0]
    assert slower.ratio == pytest.approx(1.03, abs=0.005)
    assert slower.low is not None and slower.high is not None
    assert slower.low < 1.03 < slower.high
    assert slower.level >= 0.95
    assert slower.p_slower <= 0.002 < slower.p_faster


def test_every_line_names_processes_the_smallest_visible_effect_and_the_alpha_spent() -> None:
    comparison = compare_measurements(*arms([0.03, 0.0, 0.0]), GATE)
    for line in comparison.lines():
        assert "P 8 v 8" in line
        assert "could see" in line
        assert "alpha spent 0.20%" in line
    assert "EQUIVALENT within 2.0%" in comparison.lines()[2]


def test_better_on_every_workload_is_faster_and_passes() -> None:
    comparison = compare_measurements(*arms([-0.05] * 4), GATE)
    assert comparison.overall.outcome is comparison.family is Outcome.FASTER
    assert comparison.passes


@pytest.mark.parametrize("sd", [0.06, 0.3])
def test_noise_beyond_three_percent_is_unstable_and_does_not_pass(sd: float) -> None:
    comparison = compare_measurements(*arms([0.0], processes=20, sd=sd, seed=3), GATE)
    assert outcomes(comparison) == [Outcome.UNSTABLE]
    assert not comparison.passes
    assert comparison.looks_taken == (8, 10, 20)
    assert comparison.alpha_spent == pytest.approx(0.01)


def test_two_modes_of_processes_are_unstable_and_both_are_reported() -> None:
    rng = np.random.default_rng(1)
    baseline, candidate = np.exp(np.where(np.arange(20) % 2, 0.04, 0.0) + 0.001 * rng.normal(size=(2, 1, 20)))
    comparison = compare_measurements(measured(baseline.tolist()), measured(candidate.tolist()), GATE)
    (workload,) = comparison.workloads
    assert workload.outcome is Outcome.UNSTABLE
    assert [(m.arm, m.low_count, m.high_count) for m in workload.modes] == [
        ("baseline", 10, 10),
        ("candidate", 10, 10),
    ]
    assert "two modes" in workload.line(0.02)


def test_a_change_between_tau_and_delta_at_high_noise_is_left_open() -> None:
    comparison = compare_measurements(*arms([0.015], sd=0.015, seed=2), GATE)
    assert outcomes(comparison) == [Outcome.INCONCLUSIVE]
    assert comparison.family is Outcome.INCONCLUSIVE
    assert not comparison.passes
    assert comparison.workloads[0].minimal_effect > 0.015


def test_the_next_look_is_asked_for_until_all_is_decided() -> None:
    assert next_look(*arms([0.05, 0.0]), GATE) is None
    quiet_and_open = arms([0.015, 0.0], sd=0.015, seed=2)
    assert next_look(*quiet_and_open, GATE) == 10
    assert next_look(*arms([0.0], processes=20, sd=0.3, seed=3), GATE) is None


def test_what_was_decided_at_a_look_is_not_changed_by_later_processes() -> None:
    early, later = arms([0.03], processes=8), arms([0.03], processes=20)
    first = tuple(m for m in later[0] if m.process < 8), tuple(m for m in later[1] if m.process < 8)
    assert compare_measurements(*later, GATE) == compare_measurements(*first, GATE)
    assert compare_measurements(*early, GATE).looks_taken == (8,)


def test_the_same_samples_give_the_same_comparison_and_the_order_of_the_file_does_not_matter() -> None:
    baseline, candidate = arms([0.01, 0.0], processes=10)
    shuffled = tuple(sorted(candidate, key=lambda m: (m.times_ms[0], m.workload)))
    assert (
        compare_measurements(baseline, candidate, GATE).digest
        == compare_measurements(baseline, shuffled, GATE).digest
    )


def test_a_comparison_survives_a_trip_through_json() -> None:
    comparison = compare_measurements(*arms([0.03]), GATE)
    assert Comparison.model_validate_json(comparison.model_dump_json()) == comparison


def test_times_of_two_timers_are_refused() -> None:
    with pytest.raises(ValueError, match="different timers"):
        arms_of(measured([[1.0] * 8]), measured([[1.0] * 8], timer="cuda-events"))


def test_a_process_that_missed_a_workload_is_refused_by_name() -> None:
    baseline, candidate = arms([0.0, 0.0])
    with pytest.raises(ValueError, match=r"\('w1', 7\)"):
        compare_measurements(baseline, candidate[:-1], GATE)


def test_other_workloads_than_the_baseline_are_refused() -> None:
    baseline, candidate = arms([0.0])
    renamed = tuple(m.model_copy(update={"workload": "other"}) for m in candidate)
    with pytest.raises(ValueError, match="other"):
        compare_measurements(baseline, renamed, GATE)


def test_too_few_processes_are_refused_rather_than_judged() -> None:
    with pytest.raises(CannotReject, match="first look is at 8"):
        compare_measurements(*arms([0.5], processes=5), GATE)


def test_discarding_more_than_a_tenth_is_refused() -> None:
    baseline, candidate = arms([0.0], processes=10)
    assert compare_measurements(baseline, candidate, FIXED, discarded=2).discarded == 2
    with pytest.raises(ValueError, match="above a tenth"):
        compare_measurements(baseline, candidate, FIXED, discarded=3)


def test_pairs_see_through_clocks_that_wander() -> None:
    """A common wander of 3 % hides 1 % from independent arms and not from declared pairs."""
    rng = np.random.default_rng(5)
    wander = np.cumsum(0.015 * rng.normal(size=20))
    baseline = wander + 0.002 * rng.normal(size=20)
    candidate = wander + 0.01 + 0.002 * rng.normal(size=20)
    arms_given = baseline[None, None], candidate[None, None]
    paired = decide(*arms_given, Rule(paired=True))
    independent = decide(*arms_given, Rule())
    assert OUTCOMES[paired.outcome[0, 0]] is Outcome.SLOWER
    assert OUTCOMES[independent.outcome[0, 0]] in (Outcome.INCONCLUSIVE, Outcome.UNSTABLE)


def test_ticked_times_are_located_between_the_ticks() -> None:
    """4.00 and 4.04 us on a clock of 32 ns: medians are mostly equal, locations are not."""
    rng = np.random.default_rng(6)

    def read(centre_ns: float) -> tuple[Measurement, ...]:
        times = 32e-6 * np.floor((centre_ns + 10 * rng.normal(size=(10, 100))) / 32 + rng.random((10, 100)))
        return tuple(
            Measurement(workload="w", process=p, timer="cupti", kind="official", times_ms=tuple(row))
            for p, row in enumerate(times.tolist())
        )

    comparison = compare_measurements(read(4_000.0), read(4_040.0), FIXED)
    assert outcomes(comparison) == [Outcome.SLOWER]
    assert comparison.workloads[0].ratio == pytest.approx(1.01, abs=0.003)


@pytest.mark.parametrize("paired", [False, True])
def test_the_interval_and_the_two_tests_agree_on_equivalence(paired: bool) -> None:
    rng = np.random.default_rng(7)
    baseline, candidate = 0.01 * rng.normal(size=(2, 300, 9)) + np.array([0.0, 0.01])[:, None, None]
    shifts = shifts_of_pairs(candidate - baseline) if paired else shifts_between(candidate, baseline)
    inside = inside_margin(shifts, 0.02, 0.05)
    assert np.array_equal(inside, equivalence_p(candidate, baseline, 0.02, paired) <= 0.05)
    assert 0.1 < inside.mean() < 0.9


def test_many_problems_get_what_each_gets_alone() -> None:
    rng = np.random.default_rng(8)
    baseline, candidate = 0.02 * rng.normal(size=(2, 60, 4, 20))
    candidate[:, 0] += 0.04
    candidate[:, 1] -= 0.04
    together = decide(baseline, candidate, GATE)
    assert len({tuple(row) for row in together.outcome.tolist()}) > 3
    for i in range(60):
        alone = decide(baseline[i : i + 1], candidate[i : i + 1], GATE)
        for batch, single in zip(together, alone, strict=True):
            assert np.array_equal(batch[i : i + 1], single)


def test_a_batch_decides_as_the_measurements_do() -> None:
    baseline, candidate = arms([0.012, 0.0, -0.03, 0.004], processes=20, sd=0.006, seed=9)
    located = arms_of(baseline, candidate)
    batch = decide(located.baseline[None], located.candidate[None], GATE)
    comparison = compare_measurements(baseline, candidate, GATE)
    assert [OUTCOMES[code] for code in batch.outcome[0]] == outcomes(comparison)
    assert [w.processes for w in comparison.workloads] == batch.decided_at[0].tolist()


def test_a_screen_drops_only_what_is_clearly_slower() -> None:
    baseline = np.array([[0.0, 0.01], [0.0, 0.0]])
    assert clearly_slower(baseline, baseline + 0.1)
    assert not clearly_slower(baseline, baseline + np.array([0.1, 0.03]))
    assert not clearly_slower(baseline, baseline - 0.1)


def test_an_order_is_the_same_for_the_same_seed_and_odd_numbers_end_in_a_pair() -> None:
    assert interleaved_order(10, 3) == interleaved_order(10, 3)
    assert len({interleaved_order(10, seed) for seed in range(50)}) > 10
    odd = interleaved_order(7, 1)
    assert (odd.count("A"), odd.count("B")) == (7, 7)
    with pytest.raises(ValueError):
        interleaved_order(0, 1)


def test_the_value_that_says_it_needs_no_numpy() -> None:
    """So that the command line may name comparisons and still start at once."""
    code = (
        "import sys, guard.comparison; sys.exit(any(m in sys.modules for m in ('numpy', 'scipy', 'torch')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
