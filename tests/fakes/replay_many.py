"""`python -m tests.fakes.replay_many live FOLDER N`: a search of N candidates; with `replay`, the same over its record."""

import json
import os
import resource
import sys
import time
from pathlib import Path

from pipeline.blackboard import open_board
from pipeline.journal import read_events
from pipeline.progress import Silent
from pipeline.replayed import _Listed, _Recorded
from pipeline.run_folder import Outcome, Run
from pipeline.search import Search
from tests.fakes import run_search
from tests.fakes.agents import ListAgent
from tests.fakes.judge import GPU, fake_judge
from tests.fakes.task import doubling_task

TASK = doubling_task(tuple(range(4, 20)))
KINDS = ("accepted {time} n{n}", "accepted {time} n{n}", "rejected numerical n{n}")


def agents(count: int) -> dict[str, ListAgent]:
    shares = [range(start, count, 4) for start in range(4)]
    return {
        f"agent{k}": ListAgent(f"agent{k}", [KINDS[n % 3].format(n=n, time=1 + n % 977 / 100) for n in share])
        for k, share in enumerate(shares)
    }


def search(run: Run, board, count: int, by) -> float:
    looking = Search(
        run=run, judge=by, progress=Silent(), by_measurement=True, agents=agents(count), task=TASK, board=board,
    )  # fmt: skip
    began = time.monotonic()
    looking.go(count)
    return time.monotonic() - began


def judge(candidate) -> Outcome:
    return Outcome(candidate=candidate, verdict=fake_judge(TASK, candidate, environment=GPU))


def live(folder: Path, count: int) -> dict[str, float]:
    os.fsync = lambda stream: None  # the disk's own speed is not what is asked
    with (
        Run.create(folder, run_search.header()) as run,
        open_board(f"sqlite:///{folder}/b", "r", "t") as board,
    ):
        return {"live_ms": search(run, board, count, judge) / count * 1e3}


def replay(folder: Path, count: int) -> dict[str, float]:
    """In a process of its own: what the search before it took is not counted."""
    run = next(folder.glob("*/journal.jsonl")).parent
    began = time.monotonic()
    events = read_events(run / "journal.jsonl")[1]
    search(_Recorded(run, run_search.header(), _Listed(events)), None, count, judge)
    took = time.monotonic() - began
    return {"replay_s": took, "mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


if __name__ == "__main__":
    said = {"live": live, "replay": replay}[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.write(json.dumps(said))
