"""`python -m tests.fakes.run_search FOLDER`: a search over fakes that a test may kill; begins or goes on."""

import sys
from pathlib import Path

from pipeline.progress import Silent
from pipeline.run_folder import Header, Outcome, Run
from pipeline.search import Search
from pipeline.settings import Settings
from tests.fakes.agents import Climber, ListAgent
from tests.fakes.judge import fake_judge
from tests.fakes.task import doubling_task

BUDGET = 14
LISTED = ("accepted 4", "rejected runtime", "accepted 2.5", "accepted 4", "rejected timing")


def header() -> Header:
    return Header(
        command="search",
        task="doubling",
        task_digest=doubling_task().digest,
        device="cpu",
        agents=("listed", "climber"),
        budget=BUDGET,
        settings=Settings(),
    )


def begin_or_go_on(parent: Path) -> Run:
    journals = sorted(parent.glob("*/journal.jsonl"))
    begun = [journal for journal in journals if b"\n" in journal.read_bytes()]
    return Run.open(begun[0].parent) if begun else Run.create(parent, header())


def go(run: Run) -> list[Outcome]:
    task = doubling_task()
    search = Search(
        run=run,
        judge=lambda candidate: Outcome(candidate=candidate, verdict=fake_judge(task, candidate)),
        progress=Silent(),
        by_measurement=True,
        agents={"listed": ListAgent("listed", LISTED), "climber": Climber()},
    )
    return search.go(BUDGET)


def main(parent: Path) -> None:
    with begin_or_go_on(parent) as run:
        best = go(run)[0]
    sys.stdout.write(best.candidate.digest)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
