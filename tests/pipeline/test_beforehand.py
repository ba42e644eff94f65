"""First proposals made while another candidate is judged: the search stays the same one."""

import threading
from pathlib import Path

import pytest

from agents.listed import ListedAgent
from agents.proposal import Proposal
from pipeline.journal import read_events
from pipeline.progress import Silent
from pipeline.proposing import Inside
from pipeline.proposing.beforehand import Beforehand
from pipeline.run_folder import Outcome, Run
from pipeline.search import Search
from tests.fakes import run_search
from tests.fakes.agents import ListAgent
from tests.fakes.judge import fake_judge
from tests.fakes.task import doubling_task


class Slow:
    """Says in which thread it made its first proposal."""

    def __init__(self, name: str) -> None:
        self.name, self.made = name, list[bool]()

    def prepare(self) -> None:
        self.made.append(threading.current_thread() is threading.main_thread())


def proposers(*agents: object) -> dict[str, Inside]:
    return {agent.name: Inside(agent.name, agent) for agent in agents}  # type: ignore[attr-defined, arg-type]


def test_only_agents_whose_turn_comes_within_the_budget_prepare_and_each_once() -> None:
    a, b, c = Slow("a"), Slow("b"), Slow("c")
    beforehand = Beforehand(proposers(a, b, c))
    beforehand.begin("a", 1)
    beforehand.expect("b")
    assert (a.made, b.made, c.made) == ([], [False], [])
    beforehand.begin("a", 5)
    beforehand.expect("c")
    beforehand.begin("a", 5)
    beforehand.close()
    assert (a.made, b.made, c.made) == ([], [False], [False])


def test_who_was_asked_already_prepares_nothing_more() -> None:
    late = Slow("late")
    beforehand = Beforehand(proposers(Slow("first"), late))
    beforehand.expect("late")
    beforehand.begin("first", 9)
    beforehand.close()
    assert late.made == []


def listed(fails: bool = False) -> ListedAgent:
    def proposals():  # type: ignore[no-untyped-def]
        if fails:
            raise ValueError("no proposal can be made")
        yield Proposal("one", "def run(x): return x  # one\n")
        yield Proposal("two", "def run(x): return x  # two\n")

    return ListedAgent("listed", doubling_task(), proposals())


def test_a_list_is_the_same_whether_its_first_was_made_beforehand() -> None:
    plain, prepared = listed(), listed()
    prepared.prepare()
    prepared.prepare()
    said = [[agent.ask() for _ in range(3)] for agent in (plain, prepared)]
    assert said[0] == said[1]
    assert [candidate and candidate.strategy for candidate in said[1]] == ["one", "two", None]


def test_what_went_wrong_beforehand_is_raised_when_it_is_asked() -> None:
    agent = listed(fails=True)
    agent.prepare()
    with pytest.raises(ValueError, match="no proposal can be made"):
        agent.ask()
    assert agent.ask() is None


class Prepared(ListAgent):
    """Told in the first judgement that it may prepare."""

    def __init__(self, name: str, designs: list[str], ready: threading.Event) -> None:
        super().__init__(name, designs)
        self._ready = ready

    def prepare(self) -> None:
        self._ready.set()


def searched(folder: Path, agents: list[ListAgent], by_measurement: bool, judge=fake_judge) -> list[str]:
    with Run.create(folder, run_search.header()) as run:
        Search(
            run=run, judge=lambda c: Outcome(candidate=c, verdict=judge(doubling_task(), c)), progress=Silent(),
            by_measurement=by_measurement, agents={agent.name: agent for agent in agents},
        ).go(4)  # fmt: skip
        events = read_events(run.folder / "journal.jsonl")[1]
    return [f"{e.event} {e.agent} {e.candidate}" for e in events if e.event in ("asked", "judged")]


@pytest.mark.parametrize("by_measurement", [False, True])
def test_it_happens_while_a_candidate_is_judged_and_changes_nothing(
    tmp_path: Path, by_measurement: bool
) -> None:
    ready, seen = threading.Event(), list[bool]()
    designs = {"a": ["accepted 3", "accepted 2"], "b": ["accepted 4", "accepted 1"]}

    def waiting(task, candidate):
        seen.append(ready.wait(0.0 if by_measurement else 10.0))
        return fake_judge(task, candidate)

    plain = searched(tmp_path / "plain", [ListAgent(n, list(d)) for n, d in designs.items()], by_measurement)
    agents: list[ListAgent] = [ListAgent("a", list(designs["a"])), Prepared("b", list(designs["b"]), ready)]
    assert searched(tmp_path / "ahead", agents, by_measurement, waiting) == plain
    assert len(plain) == 8
    assert set(seen) == {not by_measurement}  # what is timed is left alone
