"""The museum: every cheat is rejected for a reason of its own, every honest look-alike is accepted."""

import statistics

import pytest

from guard.judge import judge
from guard.protocol import SMOKE, Protocol
from guard.session import Session
from guard.verdict import ReasonCode, Verdict
from tests.museum.cases import CASES, Case
from tests.museum.tasks import TASKS

CONTROL = "honest_plain_product_large"
SHARE = 0.7
"""A neutral case takes at least this share of the honest control's time."""
SHORT = {
    "never_returns": {"build_limit_s": 3.0},
    "fork_bomb": {"build_limit_s": 30.0},
    "takes_all_memory": {"host_memory_gib": 2.0},
}


def _of(*expected: str) -> list[object]:
    found = []
    for case in CASES.values():
        if case.device == "cpu" and case.expected in expected:
            marks = [pytest.mark.slow] if case.slow else []
            found.append(pytest.param(case, id=case.name, marks=marks))
    return found


def judged(case: Case, session: Session) -> Verdict:
    limits = {"build_limit_s": 60.0, "evaluation_limit_s": 120.0, **SHORT.get(case.name, {})}
    protocol: Protocol = SMOKE.model_copy(update={"measured_calls": 6, "precision": case.precision, **limits})
    return judge(TASKS[case.task](), case.candidate(), protocol, session)


def milliseconds(verdict: Verdict) -> list[float]:
    return [time for m in verdict.measurements for time in m.times_ms]


def control_again(session: Session) -> float:
    """The fastest call of the honest control: the machine may be busy, never too fast."""
    verdict = judged(CASES[CONTROL], session)
    assert verdict.status == "accepted", verdict.reason
    return min(milliseconds(verdict))


@pytest.fixture(scope="session")
def control_ms(session: Session) -> float:
    """The control's time, once for all."""
    return control_again(session)


@pytest.mark.parametrize("case", _of("reject"))
def test_a_cheat_is_rejected_for_one_of_its_own_reasons(case: Case, session: Session) -> None:
    verdict = judged(case, session)
    assert verdict.reason is not None, f"got through: {case.why}"
    assert verdict.reason.code in case.reasons, verdict.reason


@pytest.mark.parametrize("case", _of("accept"))
def test_an_honest_look_alike_is_accepted(case: Case, session: Session) -> None:
    verdict = judged(case, session)
    assert verdict.status == "accepted", (verdict.reason, verdict.log)


@pytest.mark.parametrize("case", _of("neutral"))
def test_a_neutral_trick_gains_nothing(case: Case, session: Session, control_ms: float) -> None:
    verdict = judged(case, session)
    if verdict.reason is not None:
        assert verdict.reason.code in case.reasons, verdict.reason
    elif case.task == CASES[CONTROL].task:
        took = statistics.median(milliseconds(verdict))
        if took < SHARE * control_ms:
            # all of the control's calls may have been in a busy moment that is over
            control_ms = min(control_ms, control_again(session))
        assert took >= SHARE * control_ms


def test_the_museum_is_as_large_as_promised() -> None:
    cheats = [case for case in CASES.values() if case.is_cheat]
    assert len(cheats) >= 45
    assert len(CASES) - len(cheats) >= 20


def test_every_reason_of_the_closed_list_is_shown_by_some_case() -> None:
    shown = {reason for case in CASES.values() for reason in case.reasons}
    assert shown == set(ReasonCode)


def test_no_two_cases_are_the_same_candidate() -> None:
    digests = [case.candidate().digest for case in CASES.values()]
    assert len(set(digests)) == len(digests)
