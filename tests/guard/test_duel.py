"""Two candidates against each other, in real processes on a CPU."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import guard.duel
from guard.comparison import CannotReject, Outcome, Rule
from guard.duel import duel
from guard.duel_header import header_of
from guard.duel_record import Header, ProcessRecord, Published
from guard.errors import GuardBroken
from guard.session import Session
from guard.terms import Terms, terms_for
from guard.verdict import ReasonCode
from tasks.task import Task
from tests.guard.cases import HONEST, candidate, matmul_task
from tests.guard.duels import few

SLOW = (
    "import time\nimport torch\n\n\ndef run(A, B):\n    until = time.perf_counter() + 0.05\n    C = torch.mm(A, B)\n"
    "    while time.perf_counter() < until:\n        pass\n    return C\n"
)
WRONG = "import torch\n\n\ndef run(A, B):\n    return torch.mm(A, B) * 1.1\n"
SCREEN = terms_for("screen", "cpu").model_copy(update={"process": few().process})


@pytest.fixture
def task() -> Task:
    return matmul_task(rows=(24,))


def fight(
    session: Session, task: Task, two: tuple[str, str], terms: Terms, seed: int = 3, **more: Any
) -> tuple[Header, list[ProcessRecord], Published]:
    baseline, other = (candidate(task, source) for source in two)
    header = more.pop("header", None) or header_of(task, baseline, other, terms, session, order_seed=seed)
    kept: list[ProcessRecord] = []
    said = duel(task, baseline, other, header, session, keep=kept.append, **more)
    return header, kept, said


def test_a_candidate_that_takes_longer_is_slower_in_fresh_processes_taken_in_turn(
    session: Session, task: Task
) -> None:
    header, kept, said = fight(session, task, (HONEST, SLOW), few())
    assert said.comparison is not None
    assert said.comparison.overall.outcome is Outcome.SLOWER
    assert said.comparison.workloads[0].ratio > 5
    assert [p.arm for p in kept] == list(header.order)
    assert (
        [p.process for p in kept if p.arm == "A"] == [p.process for p in kept if p.arm == "B"] == [*range(5)]
    )
    assert all("P 5 v 5" in line and "alpha spent" in line for line in said.lines())
    assert not said.is_good
    pairs = [[p.values_seed for p in kept if p.process == number] for number in range(5)]
    assert all(len(set(pair)) == 1 for pair in pairs), "both arms of a pair draw the same values"
    assert len({pair[0] for pair in pairs}) == 5
    pads = [p.pad_bytes for p in kept]
    assert len(set(pads)) > 5 and all(0 < pad <= 1 << 28 and pad % 4096 == 0 for pad in pads)
    assert all([len(m.times_ms) for m in p.measurements] == [5] for p in kept)


def test_the_faster_one_passes(session: Session, task: Task) -> None:
    _, _, said = fight(session, task, (SLOW, HONEST), few())
    assert said.comparison is not None and said.comparison.family is Outcome.FASTER
    assert said.is_good


def test_a_wrong_candidate_is_rejected_before_its_times_mean_anything(session: Session, task: Task) -> None:
    _, kept, said = fight(session, task, (HONEST, WRONG), few())
    ((arm, reason),) = said.rejected
    assert (arm, reason.code) == ("B", ReasonCode.NUMERICAL)
    assert said.comparison is None and not said.is_good
    assert len(kept) <= 2, "nothing more is measured"


def test_a_wrong_baseline_is_named_as_such(session: Session, task: Task) -> None:
    _, _, said = fight(session, task, (WRONG, HONEST), few())
    assert said.rejected[0][0] == "A"


def test_a_screen_drops_what_is_clearly_slower_after_two_processes_an_arm(
    session: Session, task: Task
) -> None:
    _, kept, said = fight(session, task, (HONEST, SLOW), SCREEN)
    assert len(kept) == 4
    assert said.screen is not None and said.screen.clearly_slower


def test_time_that_is_up_starts_nothing_and_what_was_measured_goes_on_later(
    session: Session, task: Task
) -> None:
    header, none, said = fight(session, task, (HONEST, SLOW), SCREEN, max_seconds=-1)
    assert none == [] and "limit of seconds" in said.remark and not said.is_good
    _, kept, _ = fight(session, task, (HONEST, SLOW), SCREEN, header=header)
    _, rest, again = fight(session, task, (HONEST, SLOW), SCREEN, header=header, done=kept[:2])
    assert [p.place for p in rest] == [2, 3]
    assert again.screen is not None and again.processes == 4
    assert {p.values_seed for p in rest} <= {p.values_seed for p in [*kept[:2], *rest]}
    _, nothing, _ = fight(session, task, (HONEST, SLOW), SCREEN, header=header, done=kept)
    assert nothing == []


def test_a_look_that_decides_ends_it_and_looks_are_where_they_were_declared(
    session: Session, task: Task
) -> None:
    _, kept, said = fight(session, task, (HONEST, SLOW), few((5, 6), (0.5, 0.5)))
    assert len(kept) == 10, "the sixth pair is not run"
    assert said.comparison is not None and said.comparison.looks_taken == (5,)
    assert said.comparison.alpha_spent == pytest.approx(0.005)


def test_terms_that_could_show_nothing_are_refused_before_anything_runs(session: Session) -> None:
    task = matmul_task(rows=(24, 40))
    hopeless = few().model_copy(update={"rule": Rule(looks=(4,), shares=(1.0,))})
    with pytest.raises(CannotReject):
        header_of(task, candidate(task), candidate(task), hopeless, session)


def test_a_process_spoilt_from_outside_is_run_again(
    session: Session, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoilt = itertools.chain(["another process computed on the GPU"], itertools.repeat(""))
    monkeypatch.setattr(guard.duel, "spoilt_by", lambda *_: next(spoilt))
    _, kept, said = fight(session, task, (HONEST, SLOW), SCREEN)
    assert [p.place for p in kept] == [0, 0, 1, 2, 3]
    assert [bool(p.spoilt) for p in kept] == [True, False, False, False, False]
    assert "DISCARDED" in said.flags and said.screen is not None


def test_too_many_spoilt_processes_are_nobodys_result(
    session: Session, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard.duel, "spoilt_by", lambda *_: "the GPU throttled")
    with pytest.raises(GuardBroken, match="above a tenth"):
        fight(session, task, (HONEST, SLOW), SCREEN)


@pytest.fixture
def events(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """When workers are started and when their calls are measured."""
    seen: list[str] = []
    start, passes = guard.duel.start_worker, guard.duel.run_passes

    def started(trial: Any, stage: Any, pad: int) -> Any:
        seen.append(f"start {stage.root.parent.name[-1]}")
        return start(trial, stage, pad)

    def passed(trial: Any, worker: Any, number: int, dice: Any) -> None:
        name = trial.candidate.solution.sources[0].content == HONEST
        seen.append(f"time {'A' if name else 'B'}")
        passes(trial, worker, number, dice)
        seen.append("done")

    monkeypatch.setattr(guard.duel, "start_worker", started)
    monkeypatch.setattr(guard.duel, "run_passes", passed)
    yield seen


def test_the_next_process_starts_beside_an_import_and_never_beside_a_timing(
    session: Session, task: Task, events: list[str]
) -> None:
    """And the baseline never waits beside a running candidate."""
    terms = SCREEN.model_copy(update={"processes": 4})
    header, _, _ = fight(session, task, (HONEST, SLOW), terms, seed=3)
    running = False
    ready = []
    for event in events:
        if event.startswith("time"):
            running = True
            assert event[-1] in ready
            ready.remove(event[-1])
            assert "A" not in ready, "a waiting baseline could be tampered with"
        elif event == "done":
            running = False
        else:
            assert not running
            ready.append(event[-1])
    switches = sum(pair == ("A", "B") for pair in itertools.pairwise(header.order))
    overlapped = sum(a.startswith("start") and b.startswith("start") for a, b in itertools.pairwise(events))
    assert overlapped == switches > 0


def test_two_that_are_the_same_keep_out_of_each_others_folders(session: Session, task: Task) -> None:
    twin = "import os\nimport torch\n\n\ndef run(A, B):\n    return torch.mm(A, B)\n"
    _, kept, said = fight(session, task, (twin, twin), SCREEN)
    assert len(kept) == 4 and not said.rejected
    assert not list(Path(session.scratch).glob("arm-*/*")), "nothing is left behind"


@pytest.mark.gpu
def test_a_gpu_is_compared_by_the_official_times(task: Task) -> None:
    with Session("cuda") as session:
        _, kept, said = fight(session, task, (HONEST, HONEST), few())
    assert said.comparison is not None and said.comparison.kind == "official"
    assert all(p.conditions.sm_mhz > 0 for p in kept)
    assert "UNLOCKED_CLOCKS" in said.flags
