"""The ledger of what was sent, and the plan of what to send next."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from click.testing import Result as Ran

from leaderboard.desk import Result, Sent, add_entry, read_ledger
from leaderboard.desk_plan import Ready, delay, expected_gain, plan
from pipeline.cli import main
from submissions.write import write
from tasks.errors import TaskError
from tests.submissions.builders import draft, ready

NOON = datetime(2026, 8, 1, 12, tzinfo=UTC)


def sent(name: str, task: str = "L2/a", at: datetime = NOON) -> Sent:
    return Sent(file_digest=name * 64, submission="0" * 64, task=task, mode="private", at=at.isoformat())


def came_back(name: str, score: float | None = 0.5, at: datetime = NOON) -> Result:
    status = "failed" if score is None else "passed"
    return Result(file_digest=name * 64, status=status, score=score, at=at.isoformat())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "desk" / "ledger.jsonl"


def test_what_was_sent_is_in_flight_until_it_comes_back(path: Path) -> None:
    add_entry(path, sent("a"))
    add_entry(path, sent("b"))
    add_entry(path, came_back("a", 0.6))
    ledger = read_ledger(path)
    assert [s.file_digest[0] for s in ledger.in_flight] == ["b"]
    assert (ledger.best("L2/a"), ledger.best("L2/other")) == (0.6, 0.0)


def test_a_result_of_what_was_not_sent_is_refused_and_leaves_no_line(path: Path) -> None:
    add_entry(path, sent("a"))
    add_entry(path, came_back("a"))
    before = path.read_bytes()
    for entry in (came_back("b"), came_back("a")):
        with pytest.raises(TaskError, match="not waiting for a result"):
            add_entry(path, entry)
    assert path.read_bytes() == before


def test_a_line_cut_short_is_left_out_and_written_over(path: Path) -> None:
    add_entry(path, sent("a"))
    with path.open("a") as file:
        file.write('{"event": "sent", "file_dig')
    assert len(read_ledger(path).entries) == 1
    add_entry(path, sent("b"))
    assert [s.file_digest[0] for s in read_ledger(path).sent] == ["a", "b"]


def test_a_line_that_was_changed_is_named(path: Path) -> None:
    add_entry(path, sent("a"))
    path.write_text(path.read_text().replace("private", "secret"))
    with pytest.raises(TaskError, match="line 1 is no entry"):
        read_ledger(path)


def test_the_portal_holds_back_from_the_sixth_result_on_and_an_hour_at_most() -> None:
    minutes = [int(delay(number).total_seconds() // 60) for number in (1, 5, 6, 7, 11, 30)]
    assert minutes == [0, 0, 10, 20, 60, 60]


def test_a_worse_score_costs_nothing_so_a_wide_guess_may_be_worth_more() -> None:
    assert expected_gain(0.6, 0.7, 0.5) == pytest.approx(0.15)
    assert expected_gain(0.4, 0.5, 0.5) == 0.0
    assert expected_gain(0.3, 0.7, 0.5) == pytest.approx(0.05)
    assert expected_gain(None, None, 0.5) is None
    assert expected_gain(0.6, 0.6, 0.5) == pytest.approx(0.1)


def test_the_plan_begins_with_the_most_gain_and_ends_with_the_unknown(path: Path) -> None:
    for entry in (sent("a"), came_back("a", 0.6)):
        add_entry(path, entry)
    waiting = [
        Ready("a" * 64, "sent already", "L2/a", 0.9, 0.9),
        Ready("u" * 64, "unknown", "L2/a", None, None),
        Ready("s" * 64, "small", "L2/a", 0.61, 0.63),
        Ready("n" * 64, "new problem", "L2/b", 0.4, 0.5),
    ]
    steps = plan(read_ledger(path), waiting, NOON)
    assert [step.name for step in steps] == ["new problem", "small", "unknown"]
    assert [step.gain for step in steps] == [pytest.approx(0.45), pytest.approx(0.02), None]
    assert {step.delay_minutes for step in steps} == {0}


def test_the_quota_counts_the_utc_day_and_what_is_in_flight(path: Path) -> None:
    yesterday = datetime(2026, 7, 31, 23, tzinfo=UTC)
    for name, when in (("a", yesterday), ("b", NOON), ("c", NOON), ("d", NOON)):
        add_entry(path, sent(name, at=when))
        add_entry(path, came_back(name, at=when))
    for name in "efg":
        add_entry(path, sent(name))
    waiting = [Ready(name * 64, name, "L2/b", 0.5, 0.5) for name in "xyz"]
    steps = plan(read_ledger(path), waiting, NOON)
    assert [step.delay_minutes for step in steps] == [20, 30, None]


def run(*arguments: object) -> Ran:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_the_command_keeps_the_ledger_of_a_submission(tmp_path: Path, path: Path) -> None:
    folder = write(ready(), tmp_path)
    book = ("--ledger", path, "--at", "2026-08-01T12:00:00+00:00")
    planned = json.loads(run("desk", "plan", folder, *book, "--json").stdout)
    assert [(step["task"], step["gain"]) for step in planned] == [("L1/001_double_rows", None)]
    assert run("desk", "sent", folder, "--mode", "private", *book).exit_code == 0
    assert run("desk", "result", folder, "passed", "--score", 0.61, *book).exit_code == 0
    shown = run("desk", "show", "--ledger", path).stdout.splitlines()
    assert shown[-1].endswith("passed, score 0.61")
    assert run("desk", "plan", folder, *book).stdout == "everything here was sent already\n"


def test_a_changed_submission_and_a_moment_without_offset_are_bad_input(tmp_path: Path, path: Path) -> None:
    folder = write(draft(), tmp_path)
    done = run("desk", "sent", folder, "--mode", "private", "--ledger", path, "--at", "2026-08-01T12:00:00")
    assert done.exit_code == 2 and "--at" in done.stderr
    (folder / "REPORT.md").write_text("better\n")
    done = run("desk", "sent", folder, "--mode", "private", "--ledger", path)
    assert done.exit_code == 2 and "does not verify" in done.stderr
    assert not path.exists()
