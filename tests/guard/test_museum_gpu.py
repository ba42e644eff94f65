"""The museum on a GPU: the cases that need one."""

from collections.abc import Iterator

import pytest

from guard.judge import judge
from guard.protocol import SMOKE
from guard.session import Session
from guard.verdict import Verdict
from tests.museum.cases import CASES, Case
from tests.museum.tasks import TASKS

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def gpu_session() -> Iterator[Session]:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    with Session("cuda") as opened:
        yield opened


def _of(*expected: str) -> list[object]:
    return [
        pytest.param(case, id=case.name)
        for case in CASES.values()
        if case.device == "gpu" and case.expected in expected
    ]


def judged(case: Case, session: Session) -> Verdict:
    protocol = SMOKE.model_copy(update={"measured_calls": 8, "precision": case.precision})
    return judge(TASKS[case.task](), case.candidate(), protocol, session)


@pytest.mark.parametrize("case", _of("reject"))
def test_a_cheat_is_rejected_for_one_of_its_own_reasons(case: Case, gpu_session: Session) -> None:
    verdict = judged(case, gpu_session)
    assert verdict.reason is not None, f"got through: {case.why}"
    assert verdict.reason.code in case.reasons, verdict.reason


@pytest.mark.parametrize("case", _of("accept"))
def test_an_honest_look_alike_is_accepted(case: Case, gpu_session: Session) -> None:
    verdict = judged(case, gpu_session)
    assert verdict.status == "accepted", (verdict.reason, verdict.log)


@pytest.mark.parametrize("case", _of("neutral"))
def test_a_neutral_trick_gains_nothing(case: Case, gpu_session: Session) -> None:
    """Against the plain product on the same task and device; 0.7 of its time is the least that is believed."""
    verdict = judged(case, gpu_session)
    if verdict.reason is not None:
        assert verdict.reason.code in case.reasons, verdict.reason
        return
    honest = CASES["honest_plain_product"].candidate()
    task = TASKS[case.task]()
    control = honest.model_copy(update={"definition_digest": task.definition.digest})
    fair = judge(task, control, SMOKE, gpu_session)
    pairs = zip(verdict.workloads, fair.workloads, strict=True)
    assert all((mine.latency_ms or 0.0) >= 0.7 * (theirs.latency_ms or 0.0) for mine, theirs in pairs)
