"""Results out of saved files, and drift alarms."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from click.testing import Result as Ran

from leaderboard.desk import Ledger, Result, Sent, add_entry, read_ledger
from leaderboard.drift import alarms
from leaderboard.portal_results import import_results
from pipeline.cli import main
from submissions.write import write
from tasks.errors import TaskError
from tests.submissions.builders import ready

NOON = "2026-08-01T12:00:00+00:00"


def sent(letter: str, task: str, **more: Any) -> Sent:
    return Sent(file_digest=letter * 64, submission="0" * 64, task=task, mode="private", at=NOON, **more)


def a_ledger() -> Ledger:
    numbered = sent("a", "L1/001_rmsnorm", portal_id="77")
    return Ledger((numbered, sent("b", "L2/002_decoder"), sent("c", "L2/003_moe"), sent("d", "L2/003_moe")))


def run(*arguments: str | Path) -> Ran:
    return CliRunner().invoke(main, [str(a) for a in arguments])


def test_json_results_find_their_uploads_by_number_and_by_problem(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(
        json.dumps(
            {"data": {"submissions": [
                {"id": 77, "status": "PASSED", "score": 0.61, "latency_ms": 0.05, "evaluation_stack_version": "v1.1"},
                {"id": 78, "kernel_name": "002_decoder", "status": "failed"},
                {"id": 79, "kernel_name": "003_moe", "status": "passed", "score": 0.5},
                {"id": 80, "kernel_name": "002_decoder", "status": "running"},
            ]}}
        )
    )  # fmt: skip
    found = import_results(path, a_ledger(), NOON)
    assert [(r.file_digest[0], r.status, r.score, r.stack) for r in found.results] == [
        ("a", "passed", 0.61, "v1.1"), ("b", "failed", None, ""),
    ]  # fmt: skip
    assert len(found.not_taken) == 2
    assert "2 uploads could be meant" in found.not_taken[0] and "not finished" in found.not_taken[1]


@pytest.mark.parametrize(
    "page",
    [
        "<html><table><thead><tr><th>Kernel</th><th>Name</th><th>Status</th><th>Score</th><th>Latency (ms)</th></tr></thead>"
        "<tbody><tr><td>2</td><td>002_decoder</td><td> Passed </td><td>0.7</td><td>0.25 ms</td></tr></tbody></table></html>",
        '<html><script type="application/json">{"props":{"s":[{"kernel_name":"002_decoder","status":"passed",'
        '"score":0.7,"latency_ms":0.25}]}}</script><script>var x = {status: 1};</script></html>',
    ],
)  # fmt: skip
def test_a_saved_page_is_read_from_its_tables_and_scripts(tmp_path: Path, page: str) -> None:
    path = tmp_path / "page.html"
    path.write_text(page)
    (found,) = import_results(path, a_ledger(), NOON).results
    assert (found.file_digest[0], found.status, found.score, found.latency_ms, found.at) == (
        "b",
        "passed",
        0.7,
        0.25,
        NOON,
    )


@pytest.mark.parametrize("text", ["", "{}", "<html>Please log in</html>", "[1", '{"a":' * 5000])
def test_a_file_without_results_is_bad_input(tmp_path: Path, text: str) -> None:
    (tmp_path / "x").write_text(text)
    with pytest.raises(TaskError):
        import_results(tmp_path / "x", a_ledger(), NOON)


def test_the_same_page_imported_twice_adds_nothing(tmp_path: Path) -> None:
    ledger = tmp_path / "desk.jsonl"
    add_entry(ledger, sent("b", "L2/002_decoder"))
    page = tmp_path / "r.json"
    page.write_text(json.dumps([{"kernel_name": "002_decoder", "status": "passed", "score": 0.4}]))
    assert run("desk", "import", page, "--ledger", ledger).exit_code == 0
    before = ledger.read_bytes()
    again = run("desk", "import", page, "--ledger", ledger)
    assert again.exit_code == 1 and "0 uploads could be meant" in again.stdout
    assert ledger.read_bytes() == before and read_ledger(ledger).best("L2/002_decoder") == 0.4


def test_drift_names_what_changed_and_nothing_else() -> None:
    then = {"evaluator": "v1.1", "data": "1" * 64, "t_sol": "2" * 64}
    ledger = Ledger(
        (
            sent("a", "L1/a", stated=then),
            Result(file_digest="a" * 64, status="passed", score=0.5, stack="v1.0", at=NOON),
            sent("b", "L1/b", stated=then),
            Result(
                file_digest="b" * 64, status="passed", score=0.5, stack="v1.1", at="2026-08-02T12:00:00+00:00"
            ),
            sent("c", "L1/c"),
        )
    )
    found = alarms(ledger, {"L1/a": then, "L1/b": then | {"t_sol": "3" * 64}, "L1/c": then})
    assert [(alarm.task, alarm.what) for alarm in found] == [("L1/b", "t_sol"), ("L1/a", "stack")]
    assert "was 222222222222 and is 333333333333" in str(found[0])


def test_the_newest_upload_of_a_task_is_what_drifts() -> None:
    old, new = {"evaluator": "v1.0"}, {"evaluator": "v1.1"}
    ledger = Ledger((sent("a", "L1/a", stated=old), sent("b", "L1/a", stated=new)))
    assert alarms(ledger, {"L1/a": new}) == ()
    assert [a.what for a in alarms(ledger, {"L1/a": {"evaluator": "v1.2"}})] == ["evaluator"]


def test_an_upload_notes_what_it_was_made_with(tmp_path: Path) -> None:
    folder = write(ready(), tmp_path)
    ledger = tmp_path / "desk.jsonl"
    assert run("desk", "sent", folder, "--mode", "private", "--ledger", ledger).exit_code == 0
    stated = read_ledger(ledger).sent[0].stated
    assert stated["evaluator"].startswith("SOL-ExecBench v1.1") and len(stated["data"]) == 64
    drift = run("desk", "drift", "--ledger", ledger)
    assert drift.exit_code == 0 and "nothing changed for 1 tasks" in drift.stdout
