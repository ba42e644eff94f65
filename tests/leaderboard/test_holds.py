"""Whether a snapshot still holds."""

import math

import pytest

from guard.protocol import FINAL
from guard.verdict import Environment, Reason, ReasonCode, Verdict
from leaderboard.equivalence import Answer
from leaderboard.holds import Holding, holds
from leaderboard.snapshot import Snapshot
from tasks.candidate import Candidate
from tasks.task import Task
from tests.fakes.task import candidate
from tests.leaderboard.snapshots import H200, a_problem, snapshot_of, verdict_on


@pytest.fixture(scope="module")
def problem() -> tuple[Task, Candidate, Snapshot]:
    task, judged = a_problem()
    return task, judged, snapshot_of(task, judged, verdict_on(task, judged, seed=1))


def again(problem: tuple[Task, Candidate, Snapshot], **changes: object) -> Holding:
    task, judged, snapshot = problem
    verdict = verdict_on(task, judged, seed=2, **changes)  # type: ignore[arg-type]
    return holds(snapshot, verdict, FINAL)


def on(**changes: object) -> Environment:
    return H200.model_copy(update=changes)


def test_the_same_again_is_reproduced(problem) -> None:
    holding = again(problem)
    assert (holding.answer, holding.holds, holding.differences) == (Answer.REPRODUCED, True, ())
    assert {w.answer for w in holding.workloads} == {Answer.REPRODUCED}
    assert len(holding.workloads) == 16 and holding.not_covered == ()


def test_three_percent_in_one_workload_makes_that_one_slower_and_no_other(problem) -> None:
    holding = again(problem, slower={"workload-5": 1.03})
    assert holding.answer is Answer.SLOWER and not holding.holds
    assert [w.uuid for w in holding.workloads if w.answer is Answer.SLOWER] == ["workload-5"]
    assert sum(w.answer is Answer.REPRODUCED for w in holding.workloads) == 15


def test_a_gain_is_faster_and_is_no_reproduction(problem) -> None:
    holding = again(problem, slower={f"workload-{n}": 0.9 for n in range(1, 17)})
    assert (holding.answer, holding.holds) == (Answer.FASTER, False)


def test_a_sure_half_percent_is_still_reproduced(problem) -> None:
    """Sessions differ by a little; the rank test alone would call this slower."""
    holding = again(problem, slower={f"workload-{n}": 1.005 for n in range(1, 17)}, spread=0.001)
    assert holding.answer is Answer.REPRODUCED
    assert min(w.p_slower for w in holding.workloads) < 0.05


def test_a_wide_spread_leaves_it_open_and_open_is_not_holding(problem) -> None:
    holding = again(problem, spread=0.06)
    assert (holding.answer, holding.holds) == (Answer.INCONCLUSIVE, False)


@pytest.mark.parametrize("spread", [0.003, 0.01])
def test_unchanged_kernels_are_reproduced_and_never_called_slower_or_faster(spread: float) -> None:
    """30 sessions of 16 unchanged workloads at the spreads that the bar names."""
    task, judged = a_problem()
    answers: list[Answer] = []
    for seed in range(30):
        snapshot = snapshot_of(task, judged, verdict_on(task, judged, seed=2 * seed, spread=spread))
        holding = holds(snapshot, verdict_on(task, judged, seed=2 * seed + 1, spread=spread), FINAL)
        answers += [w.answer for w in holding.workloads]
    assert not {Answer.SLOWER, Answer.FASTER} & set(answers)
    assert answers.count(Answer.REPRODUCED) >= 0.9 * len(answers)


@pytest.mark.parametrize(
    ("environment", "named"),
    [
        (on(driver="590.1"), "driver: 580.10 then, 590.1 now"),
        (on(libraries={**H200.libraries, "triton": "3.8"}), "library triton: 3.7.1 then, 3.8 now"),
        (on(clocks={"sm_during_mhz": 1500.0, "memory_during_mhz": 3201.0}), "clock sm: 1980 MHz then"),
        (on(device="NVIDIA B200"), "device: NVIDIA H200 then, NVIDIA B200 now"),
        (on(throttle_reasons=("hw-thermal",)), "throttling: none then, hw-thermal now"),
        (on(other_processes=2), "other processes on the GPU: none then, 2 now"),
    ],
)
def test_what_differs_is_named_and_bars(problem, environment: Environment, named: str) -> None:
    holding = again(problem, environment=environment)
    assert holding.answer is Answer.NOT_COMPARABLE and holding.workloads == ()
    assert any(str(d).startswith(named) for d in holding.differences if d.bars)
    assert len(holding.not_covered) == 16


@pytest.mark.parametrize(
    "environment",
    [
        on(libraries={**H200.libraries, "numpy": "2.5.0"}),
        on(clocks={"sm_during_mhz": 1979.0, "memory_during_mhz": 3201.0}),
        on(clocks={}),
        on(isolation="subprocess"),
    ],
)
def test_what_cannot_change_times_bars_nothing(problem, environment: Environment) -> None:
    assert again(problem, environment=environment).answer is Answer.REPRODUCED


def test_another_timer_is_never_compared(problem) -> None:
    holding = again(problem, timer="cuda-events")
    assert holding.answer is Answer.NOT_COMPARABLE
    assert "timer: cupti (official) then, cuda-events (official) now" in map(str, holding.differences)


def test_another_protocol_bars_where_it_changes_what_is_timed(problem) -> None:
    task, judged, snapshot = problem
    verdict = verdict_on(task, judged, seed=2)
    longer = FINAL.model_copy(update={"timed_calls": 200})
    assert holds(snapshot, verdict, longer).answer is Answer.NOT_COMPARABLE
    slow = FINAL.model_copy(update={"evaluation_limit_s": 9999.0})
    assert holds(snapshot, verdict, slow).answer is Answer.REPRODUCED


def test_made_up_inputs_are_not_the_recorded_ones(problem) -> None:
    task, judged, snapshot = problem
    verdict = verdict_on(task, judged, seed=2).model_copy(update={"marks": ("synthetic-inputs",)})
    holding = holds(snapshot, verdict, FINAL)
    assert holding.answer is Answer.NOT_COMPARABLE
    assert "marks on the task: none then, synthetic-inputs now" in map(str, holding.differences)


def test_a_driver_that_is_asked_about_may_differ(problem) -> None:
    task, judged, snapshot = problem
    verdict = verdict_on(task, judged, seed=2, environment=on(driver="590.1"), slower={"workload-3": 1.05})
    holding = holds(snapshot, verdict, FINAL, excused=frozenset({"driver"}))
    assert holding.answer is Answer.SLOWER
    assert [d.what for d in holding.differences] == ["driver"]


def test_on_another_card_sentinels_take_the_cards_own_speed_out(problem) -> None:
    task, judged, snapshot = problem
    snapshot = snapshot.model_copy(update={"sentinels": {"copy": (1.0, 1.0), "fma": (2.0, 2.0)}})
    everything = {f"workload-{n}": 1.06 for n in range(1, 17)}
    other = verdict_on(task, judged, seed=2, environment=on(uuid="GPU-2"), slower=everything)
    holding = holds(snapshot, other, FINAL, sentinels={"copy": (1.06,), "fma": (2.12,)})
    assert (holding.answer, {w.margin for w in holding.workloads}) == (Answer.REPRODUCED, {0.03})
    assert holding.workloads[0].ratio == pytest.approx(1.0, abs=0.005)
    assert holding.workloads[0].now_ms == pytest.approx(0.106, rel=0.005)
    assert math.isclose(holding.workloads[0].then_ms, 0.1, rel_tol=0.005)
    slow = verdict_on(task, judged, seed=2, environment=on(uuid="GPU-2"), slower={"workload-2": 1.06})
    unmoved = holds(snapshot, slow, FINAL, sentinels={"copy": (1.0,), "fma": (2.0,)})
    assert [w.uuid for w in unmoved.workloads if w.answer is Answer.SLOWER] == ["workload-2"]


def test_on_another_card_without_sentinels_the_margin_is_wide_and_said_to_be(problem) -> None:
    holding = again(problem, environment=on(uuid="GPU-2"), slower={"workload-2": 1.06})
    assert holding.answer is Answer.REPRODUCED
    assert "another card" in holding.basis and {w.margin for w in holding.workloads} == {0.10}


def test_under_a_power_cap_no_direction_is_claimed(problem) -> None:
    capped = on(throttle_reasons=("sw-power-cap",))
    same = again(problem, environment=capped)
    assert (same.answer, same.power_capped) == (Answer.REPRODUCED, True)
    slow = again(problem, environment=capped, slower={"workload-5": 1.05})
    assert slow.answer is Answer.POWER_CAPPED
    assert [w.uuid for w in slow.workloads if w.answer is Answer.POWER_CAPPED] == ["workload-5"]


def test_a_partial_run_says_what_it_did_not_cover_and_does_not_hold(problem) -> None:
    task, judged, snapshot = problem
    part = task.model_copy(update={"workloads": task.workloads[:4]})
    holding = holds(snapshot, verdict_on(part, judged, seed=2), FINAL, part_of=task.digest)
    assert (holding.answer, holding.holds) == (Answer.REPRODUCED, False)
    assert len(holding.workloads) == 4 and len(holding.not_covered) == 12
    assert "4 of 16 workloads" in holding.lines()[0]


def test_another_task_is_not_comparable(problem) -> None:
    task, judged, snapshot = problem
    part = task.model_copy(update={"workloads": task.workloads[:4]})
    holding = holds(snapshot, verdict_on(part, judged, seed=2), FINAL)
    assert holding.answer is Answer.NOT_COMPARABLE
    assert [d.what for d in holding.differences] == ["task"]


def test_a_candidate_that_is_rejected_now_does_not_hold_whatever_else_differs(problem) -> None:
    task, judged, snapshot = problem
    rejected = Verdict.model_validate(
        verdict_on(task, judged, seed=2, environment=on(driver="590")).model_dump()
        | {"status": "rejected", "reason": Reason(code=ReasonCode.NUMERICAL, message="wrong")}
    )
    holding = holds(snapshot, rejected, FINAL)
    assert (holding.answer, holding.workloads) == (Answer.REJECTED, ())
    assert holding.remarks == ("numerical: wrong",)


def test_a_verdict_on_another_candidate_is_refused(problem) -> None:
    task, _, snapshot = problem
    other = candidate("accepted 2", task)
    with pytest.raises(ValueError, match="another candidate"):
        holds(snapshot, verdict_on(task, other, seed=2), FINAL)


def test_two_processes_show_nothing_and_it_says_so() -> None:
    task, judged = a_problem(4)
    two = FINAL.model_copy(update={"processes": 2})
    cpu = Environment(device="cpu", kind="cpu")
    first, second = (
        verdict_on(task, judged, seed=s, environment=cpu, timer="wall", protocol=two) for s in (1, 2)
    )
    holding = holds(snapshot_of(task, judged, first, two), second, two)
    assert holding.answer is Answer.INCONCLUSIVE
    assert "too few processes" in holding.remarks[0]
