"""The exact tests against enumeration by hand and against scipy."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from guard.statistics.null_tables import (
    interval_rank,
    mann_whitney_at_most,
    mann_whitney_counts,
    signed_rank_at_most,
    signed_rank_counts,
)
from guard.statistics.rank_tests import mann_whitney_greater, smallest_p, wilcoxon_greater


@pytest.mark.parametrize(("m", "n"), [(m, n) for m in range(1, 7) for n in range(1, 7)])
def test_the_table_of_u_counts_every_arrangement(m: int, n: int) -> None:
    counts = [0] * (m * n + 1)
    for chosen in combinations(range(m + n), m):
        counts[sum(chosen) - m * (m - 1) // 2] += 1
    assert mann_whitney_counts(m, n) == tuple(counts)


@pytest.mark.parametrize("n", range(1, 10))
def test_the_table_of_signed_ranks_counts_every_choice_of_signs(n: int) -> None:
    sums = [sum(rank for rank, sign in enumerate(signs, 1) if sign) for signs in product((0, 1), repeat=n)]
    assert signed_rank_counts(n) == tuple(np.bincount(sums).tolist())


@pytest.mark.parametrize(("m", "n"), [(8, 8), (10, 10), (20, 20), (3, 8), (20, 10)])
def test_mann_whitney_agrees_with_scipy_where_nothing_ties(m: int, n: int) -> None:
    rng = np.random.default_rng(m * n)
    candidate, baseline = rng.normal(0.3, 1, (50, m)), rng.normal(size=(50, n))
    expected = stats.mannwhitneyu(candidate, baseline, alternative="greater", method="exact", axis=-1).pvalue
    assert np.allclose(mann_whitney_greater(candidate, baseline), expected, rtol=1e-10)


@pytest.mark.parametrize("n", [5, 10, 20])
def test_wilcoxon_agrees_with_scipy_where_nothing_ties(n: int) -> None:
    differences = np.random.default_rng(n).normal(0.2, 1, (50, n))
    expected = stats.wilcoxon(differences, alternative="greater", method="exact", axis=-1).pvalue
    assert np.allclose(wilcoxon_greater(differences), expected, rtol=1e-10)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=2, max_size=5), st.lists(st.integers(0, 3), min_size=2, max_size=5)
)
def test_tied_samples_get_the_p_of_a_full_enumeration(candidate: list[int], baseline: list[int]) -> None:
    ranks = stats.rankdata([*candidate, *baseline])
    observed = ranks[: len(candidate)].sum()
    sums = [ranks[list(chosen)].sum() for chosen in combinations(range(len(ranks)), len(candidate))]
    expected = np.mean(np.array(sums) >= observed - 1e-9)
    assert np.isclose(mann_whitney_greater(candidate, baseline), expected)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=2, max_size=8))
def test_tied_pairs_get_the_p_of_a_full_enumeration_without_zeros(differences: list[int]) -> None:
    kept = np.array([d for d in differences if d != 0])
    ranks = stats.rankdata(np.abs(kept)) if kept.size else np.array([])
    sums = [ranks[np.array(signs, bool)].sum() for signs in product((0, 1), repeat=kept.size)]
    expected = np.mean(np.array(sums) >= ranks[kept > 0].sum() - 1e-9) if kept.size else 1.0
    assert np.isclose(wilcoxon_greater(differences), expected)


def test_twenty_against_twenty_with_ties_takes_no_time_to_speak_of() -> None:
    rng = np.random.default_rng(0)
    candidate, baseline = rng.integers(0, 5, (2, 20)).astype(float)
    p = float(mann_whitney_greater(candidate, baseline))
    normal = stats.mannwhitneyu(candidate, baseline, alternative="greater", method="asymptotic").pvalue
    assert abs(p - normal) < 0.02


def test_all_equal_samples_show_nothing() -> None:
    assert mann_whitney_greater(np.ones(8), np.ones(8)) == 1.0
    assert wilcoxon_greater(np.zeros(8)) == 1.0


def test_many_rows_get_what_each_row_gets_alone() -> None:
    rng = np.random.default_rng(2)
    candidate = np.round(rng.normal(0.5, 1, (4, 30, 8)), 1)
    baseline = np.round(rng.normal(size=(4, 30, 10)), 1)
    together = mann_whitney_greater(candidate, baseline)
    alone = [
        [float(mann_whitney_greater(candidate[i, j], baseline[i, j])) for j in range(30)] for i in range(4)
    ]
    assert together.shape == (4, 30)
    assert np.array_equal(together, alone)
    pairs = wilcoxon_greater(candidate)
    assert np.array_equal(pairs, [[float(wilcoxon_greater(row)) for row in block] for block in candidate])


@pytest.mark.parametrize(
    ("processes", "p"), [(5, 4.0e-3), (6, 1.1e-3), (7, 2.9e-4), (8, 7.8e-5), (9, 2.1e-5), (10, 5.4e-6)]
)
def test_the_smallest_possible_p_is_one_arrangement_of_all(processes: int, p: float) -> None:
    assert smallest_p(processes, processes) == pytest.approx(p, rel=0.03)
    assert smallest_p(processes, processes, paired=True) == 0.5**processes


def test_nan_is_refused_and_not_ranked() -> None:
    with pytest.raises(ValueError, match="NaN"):
        mann_whitney_greater([1.0, float("nan")], [1.0, 2.0])


@pytest.mark.parametrize(
    "table", [mann_whitney_at_most(8, 8), mann_whitney_at_most(5, 9), signed_rank_at_most(9)]
)
def test_the_rank_of_the_interval_is_the_last_that_alpha_affords(table: np.ndarray) -> None:
    for alpha in (0.001, 0.01, 0.05, 0.2):
        k = interval_rank(table, alpha)
        assert k == 0 or table[k - 1] <= alpha
        assert table[k] > alpha
