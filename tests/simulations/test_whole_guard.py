"""The whole guard on 16-workload problems whose truth is known: looks, Holm, tau, equivalence, everything.

Simulated, seeds fixed; about a minute on one core.
"""

from functools import cache

import numpy as np
import pytest

from guard.comparison import GATE, Outcome, Rule
from guard.statistics import decision
from guard.statistics.decision import OUTCOMES, Decisions, decide
from guard.statistics.looks import Look, looks_for
from tests.simulations.scenes import (
    HET,
    IID,
    MIXTURE_SDS,
    QUIET,
    SCENES,
    WORKLOADS,
    Scene,
    draw_arms,
    normal_effects,
    play,
    problems_with,
    share,
    upper_bound,
)

NAMES = [scene.name for scene in SCENES]


@cache
def played(name: str, slow: float) -> Decisions:
    scene = next(scene for scene in SCENES if scene.name == name)
    problems = 4_000 if not scene.times else 1_000
    if slow:
        problems = 1_000 if not scene.times else 500
    return play(scene, problems, GATE, slow)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_changed_and_no_workload_is_called_slower_or_faster(name: str) -> None:
    decisions = played(name, 0.0)
    for outcome in (Outcome.SLOWER, Outcome.FASTER):
        assert upper_bound(problems_with(decisions, outcome), len(decisions.outcome)) <= 0.016, outcome


@pytest.mark.parametrize(
    ("scene", "least", "most"), [(IID, 0.70, 0.82), (HET, 0.55, 0.75)], ids=["iid", "het"]
)
def test_the_naive_rule_cries_wolf_on_most_problems(scene: Scene, least: float, most: float) -> None:
    """One run each, alarm above 2 %: what the suite must be able to see."""
    baseline, candidate = draw_arms(scene, np.random.default_rng(3), 2_000, 1, np.zeros(WORKLOADS))
    alarms = (candidate - baseline > np.log1p(0.02)).any(axis=(1, 2)).mean()
    assert least <= alarms <= most


def test_two_percent_on_one_quiet_workload_is_always_found() -> None:
    assert share(played(QUIET.name, 0.02), Outcome.SLOWER) >= 0.99


def test_two_percent_on_one_workload_of_the_mixture_is_found_by_twenty_processes() -> None:
    assert share(played(IID.name, 0.02), Outcome.SLOWER) >= 0.88
    assert share(played(HET.name, 0.02), Outcome.SLOWER) >= 0.75


def test_five_percent_is_found_on_the_mixture() -> None:
    assert share(played(IID.name, 0.05), Outcome.SLOWER) >= 0.99
    assert share(played(HET.name, 0.05), Outcome.SLOWER) >= 0.88


@pytest.mark.parametrize("name", NAMES)
def test_five_percent_is_never_called_equivalent_nor_faster(name: str) -> None:
    decisions = played(name, 0.05)
    assert share(decisions, Outcome.EQUIVALENT) == 0
    assert share(decisions, Outcome.FASTER) == 0


def test_a_quiet_problem_needs_eight_processes_and_a_noisy_one_twenty() -> None:
    assert played(QUIET.name, 0.0).stopped_at.mean() < 9
    assert played(HET.name, 0.0).stopped_at.mean() > 15


def test_unchanged_quiet_workloads_are_shown_to_be_equivalent() -> None:
    outcome = played("processes differ by 1 %", 0.0).outcome
    assert (outcome == OUTCOMES.index(Outcome.EQUIVALENT)).mean() >= 0.9


def test_a_kernel_too_noisy_for_any_rule_is_unstable_and_never_green() -> None:
    noisy = Scene("too noisy", normal_effects(float(MIXTURE_SDS[3])))
    decisions = play(noisy, 200, GATE)
    assert (decisions.outcome == OUTCOMES.index(Outcome.EQUIVALENT)).sum() == 0
    assert (decisions.outcome == OUTCOMES.index(Outcome.UNSTABLE)).mean() >= 0.99


def test_processes_in_two_modes_are_called_unstable() -> None:
    outcome = played("two modes of processes", 0.0).outcome
    assert (outcome == OUTCOMES.index(Outcome.UNSTABLE)).mean() >= 0.95
    assert (outcome == OUTCOMES.index(Outcome.EQUIVALENT)).mean() <= 0.01


@pytest.mark.parametrize("sd", [0.003, 0.005, 0.01])
@pytest.mark.parametrize("slow", [0.02, 1 / 1.02 - 1])
def test_at_the_margin_equivalence_is_claimed_falsely_at_most_as_often_as_promised(
    sd: float, slow: float
) -> None:
    """Per workload and over all three looks; tau beyond reach, so that no other outcome hides a claim."""
    only_equivalence = GATE.model_copy(update={"tau": 0.5})
    decisions = play(Scene("margin", normal_effects(sd)), 500, only_equivalence, slow, every=True)
    claims = (decisions.outcome == OUTCOMES.index(Outcome.EQUIVALENT)).mean()
    assert 0 < claims <= 0.055


def test_equivalence_at_ninety_percent_at_every_look_would_claim_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Why equivalence, too, spends its alpha over the looks."""

    def unsplit(rule: Rule, workloads: int) -> tuple[Look, ...]:
        return tuple(look._replace(equivalence_alpha=0.05) for look in looks_for(rule, workloads))

    monkeypatch.setattr(decision, "looks_for", unsplit)
    only_equivalence = GATE.model_copy(update={"tau": 0.5})
    decisions = play(Scene("margin", normal_effects(0.005)), 500, only_equivalence, 0.02, every=True)
    assert (decisions.outcome == OUTCOMES.index(Outcome.EQUIVALENT)).mean() > 0.07


def test_looking_after_every_process_with_all_of_alpha_would_break_the_promise() -> None:
    """What the three declared looks and the split of alpha are for: the suite sees a peeker's error."""
    arms = draw_arms(Scene("peek", normal_effects(0.01)), np.random.default_rng(5), 4_000, 20, np.zeros(1), 1)
    honest = decide(*arms, GATE)
    assert upper_bound(problems_with(honest, Outcome.SLOWER), 4_000) <= 0.016
    alarmed = np.zeros(4_000, dtype=bool)
    for processes in range(8, 21):
        peek = decide(*arms, Rule(looks=(processes,), shares=(1.0,), tau=1e-6))
        alarmed |= peek.outcome[:, 0] == OUTCOMES.index(Outcome.SLOWER)
    assert alarmed.mean() > 0.02
