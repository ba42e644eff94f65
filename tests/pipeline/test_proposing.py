"""Proposers in processes of their own: whatever they do, the search goes on and nothing is left behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agents.memory import View
from pipeline.blackboard import open_board
from pipeline.journal import read_events
from pipeline.progress import Silent
from pipeline.proposing.apart import Apart
from pipeline.run_folder import Outcome, Run
from pipeline.search import Search
from tests.fakes import run_search
from tests.fakes.judge import fake_judge
from tests.fakes.proposers import Vandal
from tests.fakes.task import doubling_task

TASK = doubling_task()


def apart(name: str, folder: Path, limit_s: float = 20.0) -> Apart:
    return Apart(name, TASK, folder / name, agent=f"tests.fakes.proposers:{name}", ask_limit_s=limit_s)


def judge(candidate) -> Outcome:
    return Outcome(candidate=candidate, verdict=fake_judge(TASK, candidate))


def go(folder: Path, names: list[str], budget: int, limit_s: float = 20.0, lookahead: int = 3, board=None):
    proposers = {name: apart(name, folder, limit_s) for name in names}
    with Run.create(folder / "runs", run_search.header()) as run:
        search = Search(
            run=run, judge=judge, progress=Silent(), by_measurement=True, agents=proposers, task=TASK,
            board=board, lookahead=lookahead,
        )  # fmt: skip
        found = search.go(budget)
    return found, read_events(run.folder / "journal.jsonl")[1], search


def children() -> list[str]:
    listed = subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True).stdout.splitlines()
    return [line for line in listed if line.split()[0] == str(os.getpid()) and "proposing.child" in line]


def test_whatever_proposers_do_an_honest_one_is_heard_to_the_end(tmp_path):
    names = ["honest", "crashing", "raising", "garbage", "dead_on_arrival", "impostor"]
    found, events, search = go(tmp_path, names, budget=11)
    assert sum(o.candidate.agent == "honest" for o in found) == 8
    faults = {name: [e.text for e in events if e.event == "fault" and e.agent == name] for name in names}
    assert faults["honest"] == []
    assert faults["crashing"] == ["ended"] * 3
    assert faults["raising"] == ["IndexError: list index out of range"] * 3
    assert faults["garbage"] == ["proposed a dict, which is no candidate"] * 3
    assert faults["dead_on_arrival"] == ["ended"] * 3
    assert faults["impostor"][0] == "proposed a candidate for another definition"
    assert {e.agent for e in events if e.event == "retired"} == {
        "crashing",
        "raising",
        "garbage",
        "dead_on_arrival",
    }
    told = {o.candidate.agent: o.candidate.strategy for o in found}
    assert told["impostor"] == "[31m red"
    assert search.ledger.spent.candidates == len(found) == 11
    assert search.ledger.spent.attempts == 11 + sum(map(len, faults.values()))
    assert children() == []


def test_one_that_hangs_is_ended_and_the_others_wait_no_longer_than_its_limit(tmp_path):
    began = time.monotonic()
    found, events, _ = go(tmp_path, ["hanging", "honest"], budget=3, limit_s=1.0, lookahead=2)
    assert [o.candidate.agent for o in found] == ["honest"] * 3
    assert {e.text for e in events if e.event == "fault"} == {"did not answer in time"}
    assert time.monotonic() - began < 90  # three starts, on a machine that may be busy
    assert children() == []


def test_one_that_writes_into_its_channel_is_heard_no_further_than_its_nonsense(tmp_path):
    _, events, _ = go(tmp_path, ["shouting"], budget=2)
    assert {e.event for e in events} <= {"fault", "retired", "searched"}


def test_no_proposer_can_write_the_blackboard_or_anything_else(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a secret")
    place = tmp_path / "board.sqlite"
    folder = tmp_path / "vandal"
    folder.mkdir()
    kept = [tmp_path / "journal.jsonl", Path(__file__), tmp_path / "sibling.py"]
    for file in (kept[0], kept[2]):
        file.write_text("kept")
    (folder / "targets.txt").write_text("\n".join(map(str, [place, *kept])))
    before = [file.read_bytes() for file in kept]
    with open_board(f"sqlite:///{place}", "run", "doubling") as board:
        found, _, _ = go(tmp_path, ["honest", "vandal"], budget=6, board=board)
        assert board.broken_link() is None
        bests = {row["agent"]: row["latency_ms"] for row in board.state()["best"]}
    assert {
        o.candidate.solution.name.partition(" did ")[2] for o in found if o.candidate.agent == "vandal"
    } == {"nothing"}
    assert bests == {"honest": pytest.approx(7.0), "vandal": pytest.approx(21.0)}
    assert [file.read_bytes() for file in kept] == before
    assert sorted(p.name for p in tmp_path.glob("*-beside")) == []


def test_the_same_attempts_succeed_where_nothing_holds_them(tmp_path):
    prey = tmp_path / "prey.txt"
    prey.write_text("kept")
    assert {"spawn", f"write {prey}", f"remove {prey}"} <= set(Vandal([str(prey)])._successes())


def test_answers_do_not_depend_on_how_fast_anybody_is(tmp_path):
    runs = []
    for pause in (0.0, 0.15):
        folder = tmp_path / str(pause)
        proposers = {"climber": apart("climber", folder), "honest": apart("honest", folder)}

        def slow(candidate, pause=pause) -> Outcome:
            time.sleep(pause)
            return judge(candidate)

        with (
            open_board("sqlite://", "run", "doubling") as board,
            Run.create(folder / "runs", run_search.header()) as run,
        ):
            search = Search(
                run=run, judge=slow, progress=Silent(), by_measurement=True, agents=proposers, task=TASK,
                board=board, lookahead=4,
            )  # fmt: skip
            search.go(10)
            runs.append([row["hash"] for row in board.state()["events"]])
    assert runs[0] == runs[1] and len(runs[0]) > 20


def test_a_proposer_that_crashed_once_knows_what_it_knew(tmp_path):
    proposer = apart("climber", tmp_path)
    try:
        first = [proposer.begin(View)().candidate for _ in range(2)]
        os.kill(proposer._process.pid, 9)
        assert proposer.begin(View)().fault == "ended"
        again = proposer.begin(View)()
    finally:
        proposer.close()
    assert first[0].digest == first[1].digest  # told nothing in between, it says the same
    assert again.candidate is not None


def test_closing_twice_and_before_any_ask_is_allowed(tmp_path):
    proposer = apart("honest", tmp_path)
    proposer.close()
    proposer.close()
    assert children() == []


@pytest.mark.slow
def test_a_search_that_is_interrupted_leaves_no_process(tmp_path):
    script = (
        "import sys; from pathlib import Path; from tests.pipeline.test_proposing import go\n"
        "go(Path(sys.argv[1]), ['honest', 'hanging'], budget=9, limit_s=60)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)], cwd=Path(__file__).parents[2], stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 60
    while not any(tmp_path.glob("runs/*/verdicts/*.json")) and time.monotonic() < until:
        time.sleep(0.05)
    process.send_signal(2)
    process.wait(30)
    left = subprocess.run(["ps", "-eo", "args,pid"], capture_output=True, text=True).stdout
    inside = [p for p in Path("/proc").glob("[0-9]*/cwd") if _is_under(p, tmp_path)]
    assert inside == [], left


def _is_under(link: Path, folder: Path) -> bool:
    try:
        return Path(os.readlink(link)).is_relative_to(folder)
    except OSError:
        return False
