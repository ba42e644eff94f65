"""Holm is the closure of Bonferroni; nothing in it can be a matter of taste."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from guard.comparison import CannotReject, Rule
from guard.statistics.looks import looks_for, processes_needed
from guard.statistics.multiplicity import benjamini_hochberg, holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=5)


@settings(deadline=None)
@given(P_VALUES)
def test_holm_rejects_what_every_intersection_of_hypotheses_rejects(p: list[float]) -> None:
    adjusted = holm(p)
    for i in range(len(p)):
        others = [j for j in range(len(p)) if j != i]
        groups = [(i, *rest) for size in range(len(p)) for rest in combinations(others, size)]
        worst = max(len(group) * min(p[j] for j in group) for group in groups)
        assert adjusted[i] == pytest.approx(min(1.0, worst))


@given(P_VALUES)
def test_benjamini_hochberg_is_never_stricter_than_holm(p: list[float]) -> None:
    assert (benjamini_hochberg(p) <= holm(p) + 1e-12).all()


def test_holm_adjusts_each_row_of_a_batch_alone() -> None:
    p = np.random.default_rng(0).random((3, 4, 6))
    assert np.array_equal(holm(p)[2, 1], holm(p[2, 1]))


def test_sixteen_workloads_are_looked_at_three_times_with_a_fifth_of_alpha_first() -> None:
    looks = looks_for(Rule(), 16)
    assert [look.processes for look in looks] == [8, 10, 20]
    assert [look.alpha for look in looks] == pytest.approx([0.002, 0.003, 0.005])
    assert looks[-1].spent == pytest.approx(0.01)
    assert sum(look.equivalence_alpha for look in looks) == pytest.approx(0.05)


@pytest.mark.parametrize(("workloads", "processes"), [(1, 5), (16, 7), (128, 8), (1_847, 10), (3_760, 11)])
def test_more_workloads_need_more_processes(workloads: int, processes: int) -> None:
    assert processes_needed(workloads, 0.01) == processes


def test_a_test_that_cannot_reject_is_refused_with_the_number_that_could() -> None:
    with pytest.raises(CannotReject, match=r"16 workloads at alpha 1\.00% need 7 processes an arm"):
        looks_for(Rule(looks=(5,), shares=(1.0,)), 16)


def test_pairs_are_looked_at_only_where_signs_can_reach_alpha() -> None:
    assert [look.processes for look in looks_for(Rule(paired=True), 16)] == [20]
    with pytest.raises(CannotReject):
        looks_for(Rule(paired=True, looks=(8, 10), shares=(0.4, 0.6)), 16)


@pytest.mark.parametrize(
    "wrong",
    [
        {"looks": (8, 10)},
        {"looks": (10, 8, 20)},
        {"shares": (0.2, 0.3, 0.6)},
        {"looks": (), "shares": ()},
        {"tau": 0.0},
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        Rule(**wrong)  # type: ignore[arg-type]
