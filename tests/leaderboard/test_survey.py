"""Saved board JSON in several shapes, and where a point is cheapest to win."""

import json
import math
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from leaderboard.desk import Result, Sent, add_entry
from leaderboard.public_board import Placed, Ranking, read_rankings
from leaderboard.survey import halvings, survey
from pipeline.cli import main
from tasks.errors import TaskError

NOW = datetime(2026, 9, 1, tzinfo=UTC)


def saved(tmp_path: Path, content: Any, name: str = "board.json") -> Path:
    path = tmp_path / name
    path.write_text(json.dumps(content))
    return path


def ranking(name: str, *scores: float) -> Ranking:
    at = datetime(2026, 8, 1, tzinfo=UTC)
    return Ranking(name, name, tuple(Placed(score, who=f"u{i}", at=at) for i, score in enumerate(scores)))


@pytest.mark.parametrize(
    "content",
    [
        {"kernel_id": 4, "kernel_name": "rmsnorm", "leaderboard": [{"score": 0.6}, {"user": "b", "score": 0.7}]},
        {"data": {"kernelId": 4, "name": "rmsnorm", "entries": [{"solScore": "0.7"}, {"solScore": 0.6}]}},
        [{"kernel_id": 4, "kernel_name": "rmsnorm", "score": 0.6}, {"kernel_id": 4, "kernel_name": "rmsnorm", "score": 0.7}],
        {"kernels": [{"id": 4, "name": "rmsnorm", "results": [{"id": 9, "score": 0.6}, {"id": 8, "score": 0.7}]}]},
        {"items": [{"id": 91, "kernel_id": 4, "title": "rmsnorm", "score": s} for s in (0.6, 0.7)]},
    ],
)  # fmt: skip
def test_a_ranking_is_recognised_in_many_shapes(tmp_path: Path, content: Any) -> None:
    (found,) = read_rankings([saved(tmp_path, content)])
    assert (found.kernel, found.name) == ("4", "rmsnorm")
    assert [placed.score for placed in found.placed] == [0.7, 0.6]


def test_names_come_from_the_list_and_results_from_the_ranking(tmp_path: Path) -> None:
    kernels = saved(tmp_path, [{"id": 4, "name": "rmsnorm"}, {"id": 5, "name": "swiglu"}], "kernels.json")
    four = saved(
        tmp_path, {"kernel_id": 4, "results": [{"score": 0.6, "created_at": 1780000000, "user": {"name": "ada"}}]}, "4.json"
    )  # fmt: skip
    found = {r.kernel: r for r in read_rankings([kernels, four])}
    assert found["4"].name == "rmsnorm" and found["5"].placed == ()
    assert found["4"].placed[0].who == "ada" and found["4"].placed[0].at is not None


def test_the_recorded_pairs_of_the_board_are_read(tmp_path: Path) -> None:
    content = {
        "pairs": [],
        "results": [{"kernel_id": 4, "board_score": 0.670836, "board_latency_ms": 0.047716}],
    }
    (found,) = read_rankings([saved(tmp_path, content)])
    assert found.placed[0] == Placed(0.670836, 0.047716)


@pytest.mark.parametrize("content", [{}, [], {"message": "not found"}, [1, 2], {"entries": "soon"}])
def test_a_file_in_which_nothing_is_recognised_is_an_error(tmp_path: Path, content: Any) -> None:
    with pytest.raises(TaskError, match="no kernel and no ranking"):
        read_rankings([saved(tmp_path, content)])


def test_a_place_costs_halvings_of_the_distance_to_light() -> None:
    assert halvings(0.5, 2 / 3) == pytest.approx(1.0)  # x from 1 to 1/2
    assert halvings(0.5, 0.8) == pytest.approx(2.0)  # x from 1 to 1/4
    assert halvings(0.8, 0.5) == 0.0
    assert math.isfinite(halvings(0.5, 1.2))


def test_an_easy_problem_comes_before_a_hard_one_of_the_same_gain() -> None:
    easy, hard = ranking("easy", *[0.6] * 5), ranking("hard", *[0.95] * 5)
    found = survey([hard, easy], {"hard": 0.85, "easy": 0.5}, NOW)
    assert [c.name for c in found] == ["easy", "hard"]
    assert [c.to_fifth for c in found] == pytest.approx([0.1, 0.1])
    assert found[0].worth == pytest.approx(0.1 / (1 + math.log2((1 / 0.5 - 1) / (1 / 0.6 - 1))))


def test_the_first_right_solution_is_worth_the_baseline_and_what_others_reached_beyond_it() -> None:
    (found,) = survey([ranking("a", 0.8)], {}, NOW)
    assert found.aim == "fifth" and found.worth == pytest.approx(0.5 + 0.3 / (1 + 2))


def test_bars_headroom_and_staleness_are_those_of_the_board() -> None:
    (found,) = survey([ranking("L1/001_a", 0.9, 0.8, 0.7, 0.65, 0.6, 0.5)], {"001_a": 0.62}, NOW)
    assert (found.first, found.fifth, found.places) == (0.9, 0.6, 6)
    assert found.own == 0.62 and found.to_fifth == 0.0 and found.to_first == pytest.approx(0.28)
    assert found.headroom == pytest.approx(0.38) and found.stale_days == 31 and found.aim == "first"


def test_ones_own_place_is_no_bar() -> None:
    (found,) = survey([ranking("a", 0.9, 0.7)], {}, NOW, me="u0")
    assert found.own == 0.9 and found.first == 0.7 and found.aim == "none" and found.worth == 0.0


def test_where_nobody_is_the_baseline_is_the_aim() -> None:
    (found,) = survey([ranking("a")], {}, NOW)
    assert (found.aim, found.worth, found.first, found.stale_days) == ("baseline", 0.5, None, None)


def test_the_command_takes_ones_own_best_from_the_ledger(tmp_path: Path) -> None:
    board = saved(
        tmp_path,
        [
            {"kernel_id": 1, "kernel_name": "a", "score": 0.7, "evaluation_stack_version": "v1.0"},
            {"kernel_id": 2, "kernel_name": "b", "score": 0.7, "evaluation_stack_version": "v1.1"},
        ],
    )
    ledger = tmp_path / "desk.jsonl"
    at = NOW.isoformat()
    add_entry(ledger, Sent(file_digest="a" * 64, submission="0" * 64, task="L1/a", mode="private", at=at))
    add_entry(ledger, Result(file_digest="a" * 64, status="passed", score=0.69, at=at))
    command = ["survey", str(board), "--ledger", str(ledger), "--at", at]
    said = json.loads(CliRunner().invoke(main, [*command, "--json"]).stdout)
    assert [(c["name"], c["own"]) for c in said] == [("b", 0.0), ("a", 0.69)]
    text = CliRunner().invoke(main, command).stdout
    assert "2 problems" in text and "several evaluation stacks" in text and "v1.0, v1.1" in text


@pytest.mark.bench
def test_a_hundred_thousand_results_are_surveyed_within_two_seconds(tmp_path: Path) -> None:
    rows = [
        {"kernel_id": n % 235, "kernel_name": f"problem {n % 235}", "user": f"u{n}", "score": (n % 97) / 97,
         "latency_ms": 0.1, "created_at": "2026-08-01T00:00:00Z"}
        for n in range(100_000)
    ]  # fmt: skip
    path = saved(tmp_path, {"results": rows})
    began = time.perf_counter()
    found = survey(read_rankings([path]), {}, NOW)
    seconds = time.perf_counter() - began
    print(f"\n{seconds:.2f} s")  # noqa: T201
    assert len(found) == 235 and sum(c.places for c in found) == 100_000
    assert seconds < 2.0
