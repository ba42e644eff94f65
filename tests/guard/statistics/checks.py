"""Fast checks, each of a rule that is easily broken. Run as they are they pass; `test_mutations` breaks the
rules one at a time and wants each check to notice."""

from itertools import combinations

import numpy as np

from guard.comparison import FIXED, GATE, Outcome, Rule
from guard.statistics import order
from guard.statistics.decision import OUTCOMES, decide
from guard.statistics.experiment import compare_measurements
from guard.statistics.hodges_lehmann import shifts_between, shifts_of_pairs
from guard.statistics.rank_tests import mann_whitney_greater
from tests.guard.statistics.samples import measured
from tests.simulations.scenes import IID, QUIET, Scene, normal_effects, play, problems_with, share

SLOWER, FASTER, EQUIVALENT = (OUTCOMES.index(o) for o in (Outcome.SLOWER, Outcome.FASTER, Outcome.EQUIVALENT))


def the_exact_interval_misses_as_often_as_it_says() -> None:
    """All 252 ways to deal ten values to two arms of five: the share whose interval lies above zero."""
    values = np.array([0.0, 1.1, 2.3, 3.7, 5.2, 7.9, 9.1, 13.3, 17.7, 29.0])
    deals = np.array([np.isin(np.arange(10), chosen) for chosen in combinations(range(10), 5)])
    upper, lower = values[None].repeat(252, 0)[deals], values[None].repeat(252, 0)[~deals]
    upper, lower = upper.reshape(252, 5), lower.reshape(252, 5)
    lost = (upper[:, :, None] < lower[:, None, :]).sum(axis=(1, 2))
    for alpha in (0.005, 0.025, 0.05, 0.1, 0.3):
        low, _, level = shifts_between(upper, lower).interval(alpha)
        missed = float((low > 0).mean())
        assert np.isclose(missed, _nearest_reachable(lost, alpha)), (missed, alpha)
        assert np.isclose(missed, (1 - level) / 2)


def the_exact_interval_of_pairs_misses_as_often_as_it_says() -> None:
    """All 128 choices of signs of seven differences."""
    sizes = np.array([1.0, 2.1, 4.3, 8.7, 16.9, 33.0, 70.0])
    signs = np.where((np.arange(128)[:, None] >> np.arange(7)) & 1, 1.0, -1.0)
    negative_ranks = ((signs < 0) * np.arange(1, 8)).sum(axis=1)
    for alpha in (0.01, 0.025, 0.05, 0.1, 0.3):
        low, _, level = shifts_of_pairs(signs * sizes).interval(alpha)
        missed = float((low > 0).mean())
        assert np.isclose(missed, _nearest_reachable(negative_ranks, alpha)), (missed, alpha)
        assert np.isclose(missed, (1 - level) / 2)


def _nearest_reachable(statistic: np.ndarray, alpha: float) -> float:
    """The largest P(statistic <= k) that is at most alpha, by counting the arrangements."""
    shares = [float((statistic <= k).mean()) for k in range(int(statistic.max()))]
    return max((share for share in shares if share <= alpha), default=0.0)


def processes_are_the_samples() -> None:
    """Nothing changed, processes differ by 1 %, iterations by 0.1 %: 40 comparisons, no false alarm to speak of."""
    alarms = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        a, b = (measured(np.exp(0.01 * rng.normal(size=(1, 10))).tolist(), seed=seed + k) for k in (0, 100))
        comparison = compare_measurements(a, b, FIXED)
        alarms += comparison.workloads[0].outcome in (Outcome.SLOWER, Outcome.FASTER)
    assert alarms <= 4, f"{alarms} of 40"


def one_stray_process_hides_no_change() -> None:
    """2 % slower, and one baseline process that took 40 % longer: ranks see it, a t-test does not."""
    rng = np.random.default_rng(1)
    baseline = 0.002 * rng.normal(size=(1, 1, 10))
    candidate = 0.02 + 0.002 * rng.normal(size=(1, 1, 10))
    baseline[..., 4] = 0.4
    assert decide(baseline, candidate, FIXED).outcome[0, 0] == SLOWER


def sixteen_workloads_share_one_alpha() -> None:
    decisions = play(Scene("noisy", normal_effects(0.01)), 1_000, GATE, seed=3)
    assert problems_with(decisions, Outcome.SLOWER) <= 16


def three_looks_share_one_alpha() -> None:
    """One workload, so that Holm asks for nothing: what the looks spend together is 1 %."""
    rng = np.random.default_rng(8)
    baseline, candidate = 0.01 * rng.normal(size=(2, 20_000, 1, 20))
    alarms = (decide(baseline, candidate, GATE).outcome == SLOWER).mean()
    assert 0.004 < alarms <= 0.0115, alarms


def arms_alternate_from_the_first_process_to_the_last() -> None:
    starts = set()
    for seed in range(20):
        arms = order.interleaved_order(10, seed)
        starts.add(arms[0])
        lead = np.cumsum([1 if arm == "A" else -1 for arm in arms])
        assert np.abs(lead).max() <= 1, "an arm runs ahead"
        assert not lead[3::4].any(), "a block of four is uneven"
    assert starts == {"A", "B"}


def an_outlying_iteration_moves_no_process() -> None:
    """Two equal arms; in every candidate process one iteration in twenty takes forty times as long."""
    rng = np.random.default_rng(4)
    centres = np.exp(0.001 * rng.normal(size=(1, 10))).tolist()
    baseline = measured(centres, seed=1)
    candidate = tuple(
        m.model_copy(update={"times_ms": (*m.times_ms[:-1], 40 * m.times_ms[-1])})
        for m in measured(centres, seed=2)
    )
    assert compare_measurements(baseline, candidate, FIXED).workloads[0].outcome is Outcome.EQUIVALENT


def the_margin_is_claimed_at_most_one_time_in_twenty() -> None:
    rule = GATE.model_copy(update={"tau": 0.5})
    decisions = play(Scene("margin", normal_effects(0.005)), 400, rule, slow=0.02, seed=5, every=True)
    assert (decisions.outcome == EQUIVALENT).mean() <= 0.055


def a_change_not_worth_a_word_is_not_called_slower() -> None:
    decisions = play(Scene("steady", normal_effects(0.0001)), 100, GATE, slow=0.002, seed=6)
    assert share(decisions, Outcome.SLOWER) == 0
    assert share(decisions, Outcome.EQUIVALENT) == 1


def ties_are_counted_exactly() -> None:
    """Against every one of the C(8, 4) deals of tied values."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        pooled = rng.integers(0, 4, 8).astype(float)
        rank_sums = [midranks(pooled)[list(c)].sum() for c in combinations(range(8), 4)]
        expected = np.mean(np.array(rank_sums) >= midranks(pooled)[:4].sum() - 1e-9)
        assert np.isclose(mann_whitney_greater(pooled[:4], pooled[4:]), expected)


def midranks(values: np.ndarray) -> np.ndarray:
    below = (values[:, None] > values[None, :]).sum(axis=1)
    same = (values[:, None] == values[None, :]).sum(axis=1)
    return np.asarray(below + (same + 1) / 2)


def two_modes_of_processes_are_no_equivalence() -> None:
    rng = np.random.default_rng(9)
    shape = (100, 1, 20)
    arms = np.where(rng.random((2, *shape)) < 0.5, 0.0, 0.02) + 0.0005 * rng.normal(size=(2, *shape))
    assert (decide(arms[0], arms[1], GATE).outcome == EQUIVALENT).mean() <= 0.05


def two_percent_is_found_on_quiet_and_heavy_tailed_kernels() -> None:
    assert share(play(QUIET, 100, GATE, 0.02, seed=10), Outcome.SLOWER) == 1
    assert share(play(IID, 300, GATE, 0.02, seed=10), Outcome.SLOWER) >= 0.88


def a_look_that_cannot_reject_keeps_its_alpha_for_the_next() -> None:
    """200 workloads: at P = 8 not even all eight above all eight would be enough, so it is not looked at."""
    from guard.statistics.looks import looks_for

    looks = looks_for(Rule(), 200)
    assert [look.processes for look in looks] == [10, 20]
    assert np.isclose(looks[0].alpha, 0.005)
    assert np.isclose(looks[-1].spent, 0.01)
