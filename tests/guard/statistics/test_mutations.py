"""Each rule that the guard rests on, broken on purpose: a named check must notice."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import ttest_ind

from guard.statistics import decision, experiment, hodges_lehmann, looks, null_tables, order, rank_tests
from guard.statistics import location as location_module
from guard.statistics.looks import Look
from tests.guard.statistics import checks


class Mutant(NamedTuple):
    """`broken` takes the place of `name` in `module`; `check` must fail."""

    label: str
    module: Any
    name: str
    broken: Callable[..., Any]
    check: Callable[[], None]


def one_rank_too_far(at_most: Any, alpha: float) -> int:
    return null_tables.interval_rank(at_most, alpha) + 1


def one_rank_too_near(at_most: Any, alpha: float) -> int:
    return max(0, null_tables.interval_rank(at_most, alpha) - 1)


def iterations_as_samples(measurements: Any, workloads: Any, tick_ms: Any, cut_warm_up: Any) -> Any:
    return np.array(
        [np.concatenate([np.log(m.times_ms) for m in measurements if m.workload == w]) for w in workloads]
    )


def student_for_ranks(candidate: Any, baseline: Any) -> Any:
    return ttest_ind(candidate, baseline, axis=-1, alternative="greater").pvalue


def all_alpha_at_every_look(rule: Any, workloads: int) -> tuple[Look, ...]:
    return tuple(Look(p, rule.alpha, rule.equivalence_alpha, rule.alpha) for p in rule.looks)


def one_arm_after_the_other(processes: int, seed: int) -> tuple[str, ...]:
    return ("A",) * processes + ("B",) * processes


def no_ties_seen(values: Any) -> Any:
    return np.zeros(values.shape[:-1], dtype=bool)


def never(*arms: Any) -> Any:
    return np.zeros(arms[0].shape[:-1], dtype=bool)


def mean(times: Any, tick: Any = None) -> Any:
    return np.mean(times, axis=-1)


def best_of_process(times: Any, tick: Any = None) -> Any:
    return np.log(np.min(times, axis=-1))


def always_can(processes: int, alpha: float, paired: bool) -> bool:
    return True


def at_ninety_percent_each(shifts: Any, delta: float, alpha: float) -> Any:
    low, high, _ = shifts.interval(0.3)
    return (low > -np.log1p(delta)) & (high < np.log1p(delta))


MUTANTS = (
    Mutant("off by one rank, interval too narrow", hodges_lehmann, "interval_rank", one_rank_too_far,
           checks.the_exact_interval_misses_as_often_as_it_says),
    Mutant("off by one rank, interval too wide", hodges_lehmann, "interval_rank", one_rank_too_near,
           checks.the_exact_interval_misses_as_often_as_it_says),
    Mutant("off by one rank in pairs", hodges_lehmann, "interval_rank", one_rank_too_far,
           checks.the_exact_interval_of_pairs_misses_as_often_as_it_says),
    Mutant("iterations as units", experiment, "process_locations", iterations_as_samples,
           checks.processes_are_the_samples),
    Mutant("t-test for ranks", decision, "mann_whitney_greater", student_for_ranks,
           checks.one_stray_process_hides_no_change),
    Mutant("t-test for ranks, power", decision, "mann_whitney_greater", student_for_ranks,
           checks.two_percent_is_found_on_quiet_and_heavy_tailed_kernels),
    Mutant("no Holm", decision, "holm", lambda p: p, checks.sixteen_workloads_share_one_alpha),
    Mutant("all of alpha at every look", decision, "looks_for", all_alpha_at_every_look,
           checks.three_looks_share_one_alpha),
    Mutant("no interleave", order, "interleaved_order", one_arm_after_the_other,
           checks.arms_alternate_from_the_first_process_to_the_last),
    Mutant("mean for median", location_module, "mid_distribution_median", mean,
           checks.an_outlying_iteration_moves_no_process),
    Mutant("equivalence without its alpha", decision, "inside_margin", at_ninety_percent_each,
           checks.the_margin_is_claimed_at_most_one_time_in_twenty),
    Mutant("no smallest effect", decision, "log1p", lambda x: 0.0 if x < 0.01 else float(np.log1p(x)),
           checks.a_change_not_worth_a_word_is_not_called_slower),
    Mutant("ties ignored", rank_tests, "_has_ties", no_ties_seen, checks.ties_are_counted_exactly),
    Mutant("modes ignored", decision, "processes_are_bimodal", never,
           checks.two_modes_of_processes_are_no_equivalence),
    Mutant("looks that cannot reject", looks, "_can_reject", always_can,
           checks.a_look_that_cannot_reject_keeps_its_alpha_for_the_next),
)  # fmt: skip
CHECKS = tuple(dict.fromkeys(mutant.check for mutant in MUTANTS))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_unbroken_the_check_passes(check: Callable[[], None]) -> None:
    check()


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.label)
def test_broken_the_check_fails(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutant.module, mutant.name, mutant.broken)
    with pytest.raises(AssertionError):
        mutant.check()
