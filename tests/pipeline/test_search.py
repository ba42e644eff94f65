"""The search: budget, duplicates, faults, and a journal that survives a kill at any moment."""

import multiprocessing
import random
import shutil
import signal
import subprocess
import sys
import time
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from guard.errors import GuardBroken
from pipeline.journal import read_events
from pipeline.ledger.breaker import TRIPS_AT
from pipeline.progress import Silent
from pipeline.run_folder import Outcome, Run
from pipeline.search import Search
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tests.fakes import run_search
from tests.fakes.agents import ListAgent, Parrot
from tests.fakes.judge import fake_judge
from tests.fakes.task import candidate, doubling_task

ROOT = Path(__file__).parents[2]
FORKS = multiprocessing.get_context("forkserver")
"""Processes of their own to kill, from one that has imported what each would take a second for."""
FORKS.set_forkserver_preload(["tests.fakes.run_search"])


class Counting:
    """The fake judge, counting."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __call__(self, candidate: Candidate) -> Outcome:
        self.calls.append(candidate.digest)
        return Outcome(candidate=candidate, verdict=fake_judge(doubling_task(), candidate))


def search(run: Run, agents: list, judge=None, by_measurement: bool = True) -> Search:
    return Search(
        run=run,
        judge=judge or Counting(),
        progress=Silent(),
        by_measurement=by_measurement,
        agents={agent.name: agent for agent in agents},
    )


@pytest.fixture
def run(tmp_path: Path):
    with Run.create(tmp_path, run_search.header()) as opened:
        yield opened


def events_of(run: Run) -> list:
    return read_events(run.folder / "journal.jsonl")[1]


def test_the_fastest_accepted_candidate_comes_first(run):
    agent = ListAgent("a", ["accepted 3", "rejected numerical", "accepted 1.5", "accepted 2"])
    assert [o.candidate.solution.name for o in search(run, [agent]).go(10)] == [
        "accepted 1.5",
        "accepted 2",
        "accepted 3",
    ]


def test_the_budget_is_shared_and_spent_in_turn(run):
    agents = [ListAgent(name, [f"accepted {n}.{i}" for i in range(9)]) for n, name in enumerate("abc", 1)]
    search(run, agents).go(7)
    asked = [event.agent for event in events_of(run) if event.event == "asked"]
    assert asked == ["a", "b", "c", "a", "b", "c", "a"]


def test_a_duplicate_costs_no_budget_and_its_asker_is_told_again(run):
    first, second = ListAgent("a", ["accepted 3"]), ListAgent("b", ["accepted 3", "accepted 2"])
    judge = Counting()
    search(run, [first, second], judge).go(2)
    assert len(judge.calls) == 2
    assert second.told == [("accepted 3", "accepted"), ("accepted 3", "accepted"), ("accepted 2", "accepted")]
    assert [event.event for event in events_of(run)].count("duplicate") == 1


def test_an_agent_that_only_repeats_is_not_asked_again_and_the_search_ends(run):
    parrot = Parrot()
    search(run, [parrot, ListAgent("a", ["accepted 2"])]).go(10)
    assert parrot.asked == TRIPS_AT + 1
    assert [event.agent for event in events_of(run) if event.event == "rested"] == ["parrot"]


def test_every_agent_hears_every_verdict(run):
    first, second = ListAgent("a", ["accepted 3"]), ListAgent("b", ["rejected numerical"])
    search(run, [first, second]).go(5)
    assert first.told == second.told == [("accepted 3", "accepted"), ("rejected numerical", "rejected")]


def test_a_guard_that_breaks_once_is_tried_again(run):
    judge = Counting()

    def hiccup(asked: Candidate) -> Outcome:
        if not judge.calls:
            judge.calls.append("broke")
            raise GuardBroken("a hiccup")
        return judge(asked)

    assert len(search(run, [ListAgent("a", ["accepted 2"])], hiccup).go(1)) == 1
    assert [e.text for e in events_of(run) if e.event == "note"] == ["the guard broke: a hiccup"]


def test_a_guard_that_breaks_twice_stops_the_search_and_blames_nobody(run):
    with pytest.raises(GuardBroken):
        search(run, [ListAgent("a", ["accepted 2", "broken"])]).go(5)
    assert [e.event for e in events_of(run)] == ["asked", "judged", "asked", "note", "note"]
    assert run.outcome(candidate("broken")) is None


def test_away_from_the_target_predictions_rank_and_fewer_launches_break_a_tie(run):
    foreseen = {"accepted 1": (5.0, 1, True), "accepted 2": (4.0, 3, True), "accepted 3": (4.0, 2, True),
                "accepted 4": (1.0, 1, False), "accepted 5": (None, None, None)}  # fmt: skip

    def judge(asked: Candidate) -> Outcome:
        predicted, launches, builds = foreseen[asked.solution.name]
        return Outcome(
            candidate=asked,
            verdict=fake_judge(doubling_task(), asked),
            predicted_ms=predicted,
            launches=launches,
            builds_for_target=builds,
        )

    looking = search(run, [ListAgent("a", foreseen)], judge, by_measurement=False)
    names = [o.candidate.solution.name for o in looking.go(9)]
    assert names == ["accepted 3", "accepted 2", "accepted 1", "accepted 5", "accepted 4"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[Path, str]:
    """An uninterrupted run, and its champion."""
    with run_search.begin_or_go_on(tmp_path_factory.mktemp("whole")) as run:
        return run.folder, run_search.go(run)[0].candidate.digest


def champion_of(folder: Path) -> str:
    with Run.open(folder) as run:
        return run_search.go(run)[0].candidate.digest


def test_a_run_cut_off_at_any_event_reaches_the_same_champion(whole, tmp_path):
    lines = (whole[0] / "journal.jsonl").read_bytes().splitlines(keepends=True)
    assert len(lines) > 2 * run_search.BUDGET
    for kept in range(1, len(lines) + 1):
        folder = tmp_path / str(kept)
        shutil.copytree(whole[0], folder)
        torn = lines[kept][: len(lines[kept]) // 2] if kept < len(lines) else b""
        (folder / "journal.jsonl").write_bytes(b"".join(lines[:kept]) + torn)
        for verdict in unseen_verdicts(folder):
            verdict.unlink()
        assert champion_of(folder) == whole[1]
        again = [e for e in read_events(folder / "journal.jsonl")[1] if e.event != "note"]
        assert again == [e for e in read_events(whole[0] / "journal.jsonl")[1] if e.event != "note"]


def unseen_verdicts(folder: Path) -> list[Path]:
    """Of candidates the journal has not yet asked for: a run cut off there could not have them."""
    asked = {event.candidate for event in read_events(folder / "journal.jsonl")[1]}
    return [file for file in (folder / "verdicts").glob("*.json") if file.stem not in asked]


def test_a_resumed_run_judges_nothing_twice(whole, tmp_path):
    folder = shutil.copytree(whole[0], tmp_path / "run")
    judge = Counting()
    with Run.open(folder) as run:
        looking = search(run, [ListAgent("listed", run_search.LISTED), run_search.Climber()], judge)
        assert looking.go(run_search.BUDGET)[0].candidate.digest == whole[1]
    assert judge.calls == []


@pytest.mark.slow
def test_a_run_killed_at_random_moments_reaches_the_same_champion(whole, tmp_path):
    moments = random.Random(7)
    for _ in range(8):
        process = FORKS.Process(target=run_search.main, args=(tmp_path,))
        process.start()
        wait_for_a_journal(tmp_path, process)
        time.sleep(moments.random() * 0.06)
        process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
    command = [sys.executable, "-m", "tests.fakes.run_search", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == whole[1]


def wait_for_a_journal(parent: Path, process: BaseProcess) -> None:
    """Kills before it start nothing; those after it are the ones that can lose something."""
    sizes = lambda: sum(f.stat().st_size for f in parent.glob("*/journal.jsonl"))  # noqa: E731
    before, until = sizes(), time.monotonic() + 20
    while sizes() <= before and process.is_alive() and time.monotonic() < until:
        time.sleep(0.001)


def test_an_agent_that_asks_something_else_at_the_replay_goes_on_as_a_live_run(run, tmp_path):
    search(run, [ListAgent("a", ["accepted 3", "accepted 2"])]).go(2)
    run.journal.close()
    with Run.open(run.folder) as again:
        other = search(again, [ListAgent("a", ["accepted 5", "accepted 4", "accepted 1"])])
        best = other.go(2)
    assert [o.candidate.solution.name for o in best] == ["accepted 2", "accepted 3", "accepted 5"]
    texts = [e.text for e in events_of(run) if e.event == "note"]
    assert texts == ["resumed", "an agent asked something else than at the first run"]


def test_two_processes_cannot_write_one_run(run):
    with pytest.raises(TaskError, match="another process"):
        Run.open(run.folder)


def test_a_folder_without_a_run_is_named_with_its_mend(tmp_path):
    with pytest.raises(TaskError, match="give the folder of a run"):
        Run.open(tmp_path)
