"""What the committed results say is computed from their own rows, and is no better than they are."""

import json
from pathlib import Path
from typing import Any

import pytest

from scripts.oracle_agreement import agree

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "results"


def _read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RESULTS / name).read_text())
    return found


def test_the_public_evaluator_and_the_guard_agree_but_for_one_miscounted_thread() -> None:
    """torch.compile's own threads are a reward hack to the public evaluator, now and then (decision 0110)."""
    rows = _read("oracle-h200.json")["rows"]
    assert all(row["agree"] == agree(row["evaluator"], row["guard"]) for row in rows)
    apart = [row for row in rows if not row["agree"]]
    assert [(row["solution"], row["evaluator"]["status"], row["guard"]["status"]) for row in apart] == [
        ("compiled", "REWARD_HACK", "PASSED")
    ]


def test_the_agreement_covers_what_was_asked_for() -> None:
    rows = _read("oracle-h200.json")["rows"]
    assert len({row["task"] for row in rows}) >= 8
    assert {row["task"].split("/")[0] for row in rows} == {"L1", "L2", "Quant", "FlashInfer-Bench"}
    assert {row["solution"] for row in rows} == {"eager", "compiled", "wrong-allowed", "wrong-one-more"}
    statuses = {(row["solution"], row["guard"]["status"]) for row in rows}
    assert ("wrong-allowed", "PASSED") in statuses
    assert ("wrong-one-more", "INCORRECT_NUMERICAL") in statuses
    assert ("wrong-allowed", "INCORRECT_NUMERICAL") not in statuses
    assert ("wrong-one-more", "PASSED") not in statuses


def test_an_evaluation_takes_half_of_what_the_public_evaluator_takes() -> None:
    found = _read("evaluate-seconds-h200.json")
    for key in ("cold_s", "warm_s"):
        assert found[key] == pytest.approx(sum(row[key] for row in found["rows"]), abs=0.02)
    assert found["warm_s"] <= 31.0
    assert {row["status"] for row in found["rows"]} == {"accepted"}


def test_every_official_problem_ran_or_says_why_not() -> None:
    rows = _read("evaluate-all-h200.json")["rows"]
    assert len(rows) == 25
    assert all(row["status"] == "accepted" or row["why"] for row in rows)
    assert sum(row["status"] == "accepted" for row in rows) == 23
    assert {row["task"][:10] for row in rows if row["status"] != "accepted"} == {"Quant/020_", "Quant/031_"}


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*-h200.json")), ids=lambda path: path.name)
def test_a_result_names_its_command_and_its_card(path: Path) -> None:
    found = json.loads(path.read_text())
    assert found["command"].startswith("python -m ")
    environments = [row["environment"] for row in found["rows"] if row.get("environment")]
    assert environments
    assert all(e["device"] == "NVIDIA H200" and e["driver"] and e["uuid"] for e in environments)
