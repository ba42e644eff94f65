"""The score of a submission, and what stands beside it."""

from datetime import date

import pytest

from leaderboard.submission_score import median_interval_ms, no_submission, score_submission
from leaderboard.tables import Provenance, TimeTable
from submissions.package import package
from submissions.submission import Submission
from tests.submissions.builders import B200, a_candidate, a_context, a_task, a_verdict, draft, ready

TASK = "L1/001_double_rows"
WHERE = Provenance(source="here", retrieved=date(2026, 8, 1), revision="v1.1", hardware="B200")


def table(quantity: str, times: dict[str, float]) -> TimeTable:
    return TimeTable(quantity=quantity, provenance=WHERE, times_ms={TASK: times})  # type: ignore[arg-type]


SOL = table("t_sol", {"w1": 0.05, "w7": 0.1, "w1024": 0.15, "w4096": 1.0})
BASELINE = table("t_b", {"w1": 0.2, "w7": 0.4, "w1024": 0.6, "w4096": 2.0})


def measured_on(**environment: object) -> Submission:
    task = a_task()
    candidate = a_candidate(task)
    verdict = a_verdict(task, candidate, environment=B200.model_copy(update=environment), marks=("shrunk",))
    return package(task, candidate, verdict, context=a_context(verdict))


def test_a_workload_that_was_not_judged_counts_nothing_and_stays_in_the_denominator() -> None:
    scored = score_submission(ready(), SOL, BASELINE)
    by_hand = [1 / (1 + (t - s) / (b - s)) for t, s, b in zip(
        (w.latency_ms or 0 for w in ready().verdict.workloads), (0.05, 0.1, 0.15), (0.2, 0.4, 0.6), strict=True
    )]  # fmt: skip
    assert scored.problem.score == pytest.approx(sum(by_hand) / 4)
    assert "/ 4 workloads (3 scored, 1 counted 0)" in str(scored.problem)
    assert scored.remarks == ()


def test_its_interval_holds_the_score_and_is_printed() -> None:
    scored = score_submission(ready(), SOL, BASELINE)
    assert scored.problem.interval is not None
    low, high = scored.problem.interval
    assert low < scored.problem.score < high
    assert f"95 % interval {low:.6f} to {high:.6f}" in "\n".join(scored.lines())


def test_times_of_a_cpu_score_nothing() -> None:
    scored = score_submission(draft(), SOL, BASELINE)
    assert (scored.problem.score, scored.problem.scored) == (0.0, 0)
    assert "such times score nothing" in scored.remarks[0]


def test_another_gpu_is_scored_and_called_no_board_score() -> None:
    scored = score_submission(measured_on(device="NVIDIA H200"), SOL, BASELINE)
    assert scored.problem.scored == 3
    assert scored.remarks[0] == "not a board score: measured on NVIDIA H200, the tables are for B200"
    assert any("marked shrunk" in remark for remark in scored.remarks)


def test_scaled_down_workloads_are_none_of_the_problem() -> None:
    fewer = table("t_sol", {"w1": 0.05}), table("t_b", {"w1": 0.2})
    scored = score_submission(ready(), *fewer)
    assert scored.problem.denominator == 1
    assert scored.remarks == (
        "2 judged workloads are none of the problem's (scaled down): they score nothing",
    )


def test_a_problem_without_a_submission_is_zero_over_all_its_workloads() -> None:
    scored = no_submission(TASK, SOL, BASELINE)
    assert (scored.problem.score, scored.problem.denominator) == (0.0, 4)


def test_too_few_processes_give_no_interval() -> None:
    assert median_interval_ms((1.0,) * 5) is None
    low, high = median_interval_ms((0.9, 1.0, 1.1, 0.95, 1.05, 1.0, 0.98, 1.02)) or (0, 0)
    assert 0.9 < low < 1.0 < high < 1.1


def test_an_unlocked_gpu_of_the_boards_kind_is_predicted_with_an_interval_below_what_it_measured() -> None:
    found = score_submission(measured_on(clocks={"sm_during_mhz": 1965.0}), SOL, BASELINE)
    assert found.predicted is not None
    low, high = found.predicted.interval
    assert low < found.predicted.problem.score < high < found.problem.score
    assert "SM clock 1965 MHz here, 1500 there, 3 workloads of unknown bound" in "\n".join(found.lines())


@pytest.mark.parametrize(
    "environment",
    [
        {"clocks": {"sm_during_mhz": 1500.0}},
        {"clocks": {}},
        {"device": "NVIDIA H200", "clocks": {"sm_during_mhz": 1980.0}},
    ],
)
def test_nothing_is_predicted_at_the_boards_clock_without_a_clock_or_on_another_gpu(environment) -> None:
    found = score_submission(measured_on(**environment), SOL, BASELINE)
    assert found.predicted is None
    assert found.as_on_the_board == (environment == {"clocks": {"sm_during_mhz": 1500.0}})
