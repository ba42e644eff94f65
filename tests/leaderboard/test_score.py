"""The official score, its aggregation, and its denominators."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from guard.verdict import Environment, Reason, ReasonCode, Verdict, WorkloadVerdict
from leaderboard.score import (
    audit_flag,
    score_benchmark,
    score_change_per_percent,
    score_problem,
    score_verdict,
    tied,
    workload_score,
)
from leaderboard.tables import Bounds
from tasks.errors import TaskError
from tasks.trace import Status

BOUNDS = {f"w{i}": Bounds(t_sol_ms=1.0, t_b_ms=3.0) for i in range(4)}
TIMES = st.floats(1e-4, 1e3)


def board_pairs() -> list[dict[str, object]]:
    root = os.environ.get("SOL_EXECBENCH_DATA")
    path = Path(root).parent / "board-pairs.json" if root else None
    if path is None or not path.is_file():
        pytest.skip("board-pairs.json lies beside the data that SOL_EXECBENCH_DATA names")
    return list(json.loads(path.read_text())["pairs"])


def test_the_baseline_scores_half_and_the_speed_of_light_one() -> None:
    assert workload_score(3.0, 1.0, 3.0) == 0.5
    assert workload_score(1.0, 1.0, 3.0) == 1.0
    assert workload_score(7.0, 1.0, 3.0) == 0.25


def test_faster_than_the_speed_of_light_is_not_clipped_but_flagged() -> None:
    assert workload_score(0.5, 1.0, 3.0) == pytest.approx(4 / 3)
    assert audit_flag(0.5, 1.0, 3.0) == "above-one"
    assert audit_flag(1.0, 1.0, 3.0) is None


def test_beyond_the_pole_of_the_formula_the_score_is_zero_and_flagged() -> None:
    for latency in (0.5, 0.2):
        assert workload_score(latency, 1.0, 1.5) == 0.0
        assert audit_flag(latency, 1.0, 1.5) == "outside-the-formula"
    assert workload_score(0.51, 1.0, 1.5) > 1


@pytest.mark.parametrize("baseline", [1.0, 0.8])
def test_a_baseline_at_or_below_the_speed_of_light_makes_a_step(baseline: float) -> None:
    assert workload_score(1.0, 1.0, baseline) == 1.0
    assert workload_score(0.9, 1.0, baseline) == 1.0
    assert workload_score(1.0001, 1.0, baseline) == 0.0
    assert audit_flag(0.9, 1.0, baseline) == "above-one"


@pytest.mark.parametrize("latency", [0.0, -1.0, float("nan"), float("inf")])
def test_a_time_that_is_no_time_is_refused(latency: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        workload_score(latency, 1.0, 3.0)


@given(TIMES, TIMES, TIMES, TIMES)
def test_a_shorter_time_never_scores_less_down_to_the_speed_of_light(
    one: float, other: float, sol: float, baseline: float
) -> None:
    fast, slow = sorted((max(one, sol), max(other, sol)))
    assert workload_score(fast, sol, baseline) >= workload_score(slow, sol, baseline)


def test_what_one_percent_costs_is_the_slope_of_the_score() -> None:
    step = workload_score(2.02, 1.0, 3.0) - workload_score(2.0, 1.0, 3.0)
    assert score_change_per_percent(2.0, 1.0, 3.0) == pytest.approx(step, rel=0.02)
    assert score_change_per_percent(2.0, 1.0, 1.0) == 0.0


def test_failed_and_missing_workloads_count_zero_in_the_full_denominator() -> None:
    problem = score_problem("p", BOUNDS, {"w0": 1.0, "w1": 3.0, "w2": None})
    assert (problem.total, problem.scored, problem.denominator) == (1.5, 2, 4)
    assert problem.score == 0.375
    assert str(problem) == "p: 0.375000 = 1.500000 / 4 workloads (2 scored, 2 counted 0)"


def test_a_score_above_one_is_kept_in_the_mean_and_printed_for_audit() -> None:
    problem = score_problem("p", BOUNDS, {**dict.fromkeys(BOUNDS, 3.0), "w3": 0.5})
    assert problem.score == pytest.approx((1.5 + 4 / 3) / 4)
    assert problem.audits == ("w3: above-one",)
    assert str(problem).endswith("/ 4 workloads (4 scored, 0 counted 0, 1 to audit)")


def test_a_step_baseline_is_printed_with_its_denominator_too() -> None:
    bounds = {"a": Bounds(t_sol_ms=1.0, t_b_ms=1.0), "b": Bounds(t_sol_ms=1.0, t_b_ms=1.0)}
    assert str(score_problem("p", bounds, {"a": 1.0, "b": 1.1})).startswith("p: 0.500000 = 1.000000 / 2")


def test_the_latency_shown_is_the_geometric_mean_of_what_was_timed() -> None:
    assert score_problem("p", BOUNDS, {"w0": 1.0, "w1": 4.0}).latency_ms == pytest.approx(2.0)
    assert score_problem("p", BOUNDS, {}).latency_ms is None


def test_a_workload_without_bounds_and_a_problem_without_workloads_are_refused() -> None:
    with pytest.raises(TaskError, match="w9 has a latency but no T_SOL"):
        score_problem("p", BOUNDS, {"w9": 1.0})
    with pytest.raises(TaskError, match="no workload"):
        score_problem("p", {}, {})


def test_the_benchmark_is_the_mean_over_all_its_problems_and_prints_how_many() -> None:
    half = score_problem("p", BOUNDS, dict.fromkeys(BOUNDS, 3.0))
    whole = score_problem("q", BOUNDS, dict.fromkeys(BOUNDS, 1.0))
    benchmark = score_benchmark([half, whole], 235)
    assert benchmark.score == pytest.approx(1.5 / 235)
    assert str(benchmark).endswith("= 1.500000 / 235 problems (2 answered, 233 counted 0)")
    with pytest.raises(ValueError):
        score_benchmark([half, half], 235)
    with pytest.raises(ValueError):
        score_benchmark([half, whole], 1)


def test_scores_closer_than_their_intervals_are_tied() -> None:
    def problem(latency: float, width: float) -> object:
        return score_problem(
            "p",
            BOUNDS,
            dict.fromkeys(BOUNDS, latency),
            dict.fromkeys(BOUNDS, (latency * (1 - width), latency * (1 + width))),
        )

    near, far = problem(2.0, 0.02), problem(2.2, 0.02)
    assert tied(near, problem(2.02, 0.02))  # type: ignore[arg-type]
    assert tied(near, far) is False  # type: ignore[arg-type]
    without = score_problem("p", BOUNDS, dict.fromkeys(BOUNDS, 2.0))
    assert tied(near, without) is None  # type: ignore[arg-type]
    low, high = near.interval  # type: ignore[attr-defined]
    assert low < 2 / 3 < high


def verdict(*workloads: WorkloadVerdict, rejected: bool = False) -> Verdict:
    return Verdict(
        task="p",
        task_digest="t",
        candidate_digest="c",
        status="rejected" if rejected else "accepted",
        reason=Reason(code=ReasonCode.TIMING, message="replayed") if rejected else None,
        workloads=workloads,
        environment=Environment(device="cpu", kind="cpu"),
        protocol="final",
        protocol_digest="d",
    )


def judged(uuid: str, **changes: object) -> WorkloadVerdict:
    fields = {"uuid": uuid, "axes": {}, "status": Status.PASSED, "accepted": True, "latency_ms": 3.0}
    return WorkloadVerdict.model_validate({**fields, **changes})


def test_a_verdict_scores_only_what_passed_and_was_accepted() -> None:
    given = verdict(
        judged("w0"),
        judged("w1", accepted=False),
        judged("w2", status=Status.INCORRECT_NUMERICAL),
        judged("w3", latency_ms=None),
    )
    problem = score_verdict(given, BOUNDS)
    assert (problem.total, problem.scored, problem.denominator) == (0.5, 1, 4)


def test_a_rejected_candidate_scores_nothing_however_fast() -> None:
    problem = score_verdict(verdict(judged("w0", latency_ms=1.0), rejected=True), BOUNDS)
    assert (problem.total, problem.scored, problem.denominator) == (0.0, 0, 4)


def test_published_board_scores_are_reproduced_from_local_times() -> None:
    """Local times rescaled to the board's geometric mean; all but one known exception within 0.2 %."""
    errors = {}
    pairs = board_pairs()
    for pair in pairs:
        uuids = [str(i) for i in range(len(pair["t_sol_ms"]))]  # type: ignore[arg-type]
        bounds = {
            u: Bounds(t_sol_ms=s, t_b_ms=b)
            for u, s, b in zip(uuids, pair["t_sol_ms"], pair["t_b_ms"], strict=True)  # type: ignore[call-overload]
        }
        local = dict(zip(uuids, pair["local_latency_ms"], strict=True))  # type: ignore[call-overload]
        geomean = score_problem("local", bounds, local).latency_ms
        scale = pair["board_latency_ms"] / geomean  # type: ignore[operator]
        score = score_problem("board", bounds, {u: t * scale for u, t in local.items()}).score
        errors[pair["kernel_id"]] = abs(score / pair["board_score"] - 1)  # type: ignore[operator]
    assert len(pairs) == 9
    assert sum(error <= 0.002 for error in errors.values()) >= 8, errors
