"""What the target would make of a candidate is found out once, however often it is asked for."""

import pytest

import guard.cross_compile
from guard.compile_report import CompileReport, Prediction
from guard.errors import GuardBroken
from pipeline.judging import cross_compiler
from pipeline.prepare import Prepared
from pipeline.progress import Silent
from pipeline.settings import Settings
from tests.fakes.task import candidate, doubling_task

TASK = doubling_task()


@pytest.fixture
def asked(monkeypatch) -> list[tuple[tuple[str, ...], bool]]:
    calls: list[tuple[tuple[str, ...], bool]] = []

    def examine(candidate, task, targets, hardware, *_, **__):
        calls.append((targets, hardware is not None))
        if candidate.solution.name == "breaks":
            raise GuardBroken("no room")
        reports = tuple(CompileReport(target=target, ok=True) for target in targets)
        return reports, Prediction(hardware="B200", workloads=()) if hardware is not None else None

    monkeypatch.setattr(guard.cross_compile, "examine", examine)
    return calls


def test_the_champion_is_compiled_for_the_other_targets_alone(asked, tmp_path):
    foresee = cross_compiler(Settings(), Prepared(asked=TASK, judged=TASK), Silent(), tmp_path)
    one, other = candidate("accepted 1", TASK), candidate("accepted 2", TASK)
    first, predicted = foresee(one, ("sm_100a",))
    foresee(other, ("sm_100a",))
    both, again = foresee(one, ("sm_100a", "sm_90a"))
    assert asked == [(("sm_100a",), True), (("sm_100a",), True), (("sm_90a",), False)]
    assert [report.target for report in both] == ["sm_100a", "sm_90a"]
    assert both[0] is first[0] and again is predicted
    assert foresee(one, ("sm_90a",)) == (both[1:], predicted) and len(asked) == 3


def test_what_broke_is_asked_for_again(asked, tmp_path):
    foresee = cross_compiler(Settings(), Prepared(asked=TASK, judged=TASK), Silent(), tmp_path)
    breaking = candidate("breaks", TASK)
    assert [foresee(breaking, ("sm_100a",)) for _ in range(2)] == [((), None)] * 2
    assert len(asked) == 2
