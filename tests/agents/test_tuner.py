"""The tuner: never the same setting twice, suggested ones first, and better than chance on what it is told."""

from collections.abc import Mapping

import pytest

from agents.templates.base import Knob, KnobSpace
from agents.tuner import Learner, Tuner

SPACE = KnobSpace(
    choices={
        "block": (16, 32, 64, 128, 256, 512),
        "warps": (1, 2, 4, 8, 16),
        "stages": (1, 2, 3, 4),
        "wide": (False, True),
    },
    allows=lambda knobs: int(knobs["block"]) * 4 >= int(knobs["warps"]) * 32,
    start=(
        {"block": 64, "warps": 2, "stages": 1, "wide": False},
        {"block": 64, "warps": 2, "stages": 1, "wide": False},
        {"block": 16, "warps": 16, "stages": 1, "wide": False},
    ),
)


def time_of(knobs: Mapping[str, Knob]) -> float:
    """Best at block 256, 4 warps, 3 stages, wide."""
    distance = abs(int(knobs["block"]).bit_length() - 9) + abs(int(knobs["warps"]).bit_length() - 3)
    return 1.0 + 0.3 * distance + 0.2 * abs(int(knobs["stages"]) - 3) + (0.0 if knobs["wide"] else 0.5)


def asked(tuner: Tuner, count: int) -> list[dict[str, Knob]]:
    settings = []
    for _ in range(count):
        knobs = tuner.ask()
        if knobs is None:
            break
        settings.append(knobs)
        tuner.tell(knobs, time_of(knobs))
    return settings


LEARNERS = pytest.mark.parametrize("learner", ["tpe", "lfbo"])


def made(learner: Learner, seed: int, space: KnobSpace = SPACE) -> Tuner:
    if learner == "lfbo":
        pytest.importorskip("sklearn")
    return Tuner(space, seed, learner)


@LEARNERS
def test_every_allowed_setting_is_asked_once_and_then_none(learner: Learner) -> None:
    small = KnobSpace(choices={**SPACE.choices, "stages": (1,), "wide": (False,)}, allows=SPACE.allows)
    tuner = made(learner, 0, small)
    settings = asked(tuner, 1000)
    assert len({tuple(sorted(s.items())) for s in settings}) == len(settings) == len(list(small.settings()))
    assert all(small.allows(s) for s in settings)
    assert tuner.ask() is None


def test_suggested_settings_come_first_once_and_if_they_are_allowed() -> None:
    first, second = asked(Tuner(SPACE, seed=0), 2)
    assert first == SPACE.start[0]
    assert second not in SPACE.start


def test_settings_handed_in_come_before_those_of_the_space_and_unknown_ones_are_passed_over() -> None:
    wanted = {"block": 256, "warps": 4, "stages": 3, "wide": True}
    first = ({**wanted, "block": 300}, {"block": 256}, wanted)
    assert asked(Tuner(SPACE, 0, first=first), 2) == [wanted, SPACE.start[0]]


@LEARNERS
def test_a_seed_and_what_is_told_decide_what_is_asked(learner: Learner) -> None:
    assert asked(made(learner, 5), 12) == asked(made(learner, 5), 12)
    assert asked(made(learner, 5), 12) != asked(made(learner, 6), 12)


@LEARNERS
def test_times_lead_to_better_settings_than_chance(learner: Learner) -> None:
    every = [time_of(s) for s in SPACE.settings()]
    late = [time_of(s) for s in asked(made(learner, 0), 30)[15:]]
    assert sum(late) / len(late) < 0.8 * sum(every) / len(every)


def test_rejected_settings_are_avoided_and_untimed_ones_teach_nothing() -> None:
    def wide_among_the_next(verdict: str) -> int:
        tuner = Tuner(SPACE, seed=1)
        for _ in range(30):
            knobs = tuner.ask()
            assert knobs is not None
            if not knobs["wide"]:
                tuner.tell(knobs, 1.0)
            elif verdict == "rejected":
                tuner.tell_rejected(knobs)
            else:
                tuner.tell(knobs, None)
        return sum(bool((tuner.ask() or {})["wide"]) for _ in range(20))

    assert wide_among_the_next("rejected") < wide_among_the_next("untimed")


def test_what_was_never_asked_may_be_told() -> None:
    tuner = Tuner(SPACE, seed=0)
    tuner.tell({"block": 512, "warps": 1, "stages": 1, "wide": True}, 1.0)
    tuner.tell_rejected({"block": 512, "warps": 1, "stages": 1, "wide": True})
    assert tuner.ask() == SPACE.start[0]
