"""The controller: reproducible, quick to learn, masked by hardware; the plateau: when to change and when to stop."""

import pytest

import tasks
from agents.library.rules import RULES
from agents.skills import SKILLS, Skill, skill_of_agent
from agents.templates import FAMILIES
from pipeline.outcome import Word
from pipeline.plateau import GRACE, Plateau, prior_hazard
from pipeline.policy import Rounds
from pipeline.policy.context import bound_of
from pipeline.policy.controller import Controller


def controller(agents=("a", "b", "c"), seed=0, **more) -> Controller:
    return Controller(
        agents=agents, seed=seed, bound="compute", capability=(9, 0), precision="tolerance", **more
    )


@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_names_only_rules_families_and_bounds_that_exist(name):
    skill = Skill.load(name)
    assert set(skill.rules) <= set(RULES)
    assert set(skill.templates) <= set(FAMILIES)
    assert skill.suits and len(skill.text) > 200


def test_skills_are_closed_where_hardware_or_policy_makes_them_pointless():
    assert Skill.load("arch-native").is_open((9, 0), "strict")
    assert not Skill.load("arch-native").is_open((8, 0), "strict")
    assert not Skill.load("precision").is_open((9, 0), "strict")
    with pytest.raises(ValueError, match="they are library"):
        Skill.load("luck")


def test_an_agent_works_by_its_own_skill_and_a_free_one_by_all_that_are_open():
    assert skill_of_agent("compile") == "fusion"
    asked = controller(("compile", "writer"), free={"writer"})
    skills = {key[1] for key in asked._beliefs if key[0] == "writer"}
    assert skills == set(SKILLS)
    masked = Controller(("writer",), 0, "memory", (8, 0), "strict", free={"writer"})
    assert {key[1] for key in masked._beliefs} == set(SKILLS) - {"arch-native", "precision"}


def play(policy, gains: dict[str, float], turns: int = 200) -> list[str]:
    chosen = []
    for turn in range(turns):
        option = policy.next(list(gains), "improve")
        chosen.append(option.agent)
        # every third attempt of a promising agent improves; nothing here is random
        policy.learn(option, gains[option.agent] if turn % 3 == 0 else 0.0, 10.0)
    return chosen


def test_the_same_seed_and_story_give_the_same_choices_and_another_seed_others():
    gains = {"a": 0.02, "b": 0.0, "c": 0.05}
    first, again, other = (play(controller(seed=seed), gains) for seed in (1, 1, 2))
    assert first == again != other


def test_everybody_is_asked_once_and_then_what_gains_most_for_its_cost():
    for seed in range(5):
        chosen = play(controller(seed=seed), {"a": 0.0, "b": 0.2, "c": 0.0})
        assert chosen[:3] == ["a", "b", "c"]
        assert chosen[50:].count("b") > 120


def test_what_costs_ten_times_as_much_for_the_same_gain_is_chosen_less():
    policy, chosen = controller(("cheap", "dear"), seed=3), []
    for turn in range(150):
        option = policy.next(["cheap", "dear"], "improve")
        chosen.append(option.agent)
        policy.learn(option, 0.05 if turn % 4 == 0 else 0.0, 100.0 if option.agent == "dear" else 10.0)
    assert chosen.count("cheap") > 100


def test_a_draft_is_asked_of_another_than_the_one_that_leads():
    policy = controller()
    play(policy, {"a": 0.0, "b": 0.2, "c": 0.0}, 30)
    assert {policy.next(["a", "b", "c"], "draft").agent for _ in range(20)} <= {"a", "c"}
    assert policy.next(["b"], "draft").agent == "b"


def test_rounds_pass_over_whoever_is_not_ready():
    rounds = Rounds(("a", "b", "c"))
    assert [
        rounds.next(ready, "improve").agent for ready in (["a", "b"], ["a", "c"], ["b", "c"], ["c"])
    ] == list("acbc")
    assert rounds.next([], "improve") is None


@pytest.mark.parametrize(
    ("name", "bound"),
    [("l1_bf16_gemm", "compute"), ("l2_decoder", "compute"), ("l1_rmsnorm", "memory"), ("l1_rope", "memory")],
)
def test_what_limits_a_task_is_read_from_its_sizes(name, bound):
    assert bound_of(tasks.load(name)) == bound


def test_staleness_counts_benchmarked_candidates_and_asks_for_a_draft_at_three():
    plateau = Plateau()
    for word in (Word.KEEP, Word.ACCEPT, Word.REJECT, Word.REJECT, Word.REVERT):
        plateau.heard(word)
    assert plateau.stale == 2 and not plateau.wants_draft
    plateau.heard(Word.ACCEPT)
    assert plateau.wants_draft
    plateau.heard(Word.REVERT, was_draft=True)
    assert not plateau.wants_draft and plateau.grace == GRACE
    for _ in range(GRACE):
        plateau.heard(Word.REVERT)
    assert plateau.stale == 4, "what comes in the grace after a draft is not held against the search"


def test_the_chance_falls_as_recorded_and_with_bad_luck_further():
    assert [round(prior_hazard(r), 2) for r in (0, 1, 5)] == [0.33, 0.2, 0.07]
    lucky, unlucky = Plateau(), Plateau()
    for _ in range(4):
        lucky.heard(Word.KEEP)
        unlucky.heard(Word.REVERT)
    assert lucky.hazard > prior_hazard(0)
    assert unlucky.hazard < prior_hazard(4)


def test_a_search_stops_at_its_patience_and_says_why():
    plateau = Plateau(patience=4, drafting=False)
    reasons = [plateau.stop() for _ in range(5) if plateau.heard(Word.REVERT) is None]
    assert reasons[:3] == [None] * 3
    assert reasons[3].startswith(
        "4 candidates in a row brought nothing; the next would improve with a chance of "
    )
    assert Plateau(patience=None, stale=10**6).stop() is None
