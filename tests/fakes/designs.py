"""Agents whose candidates differ in design, and a search over them with all that a search has."""

import re
from pathlib import Path

from guard.verdict import Verdict
from pipeline.blackboard import Board, Retention, open_board
from pipeline.ledger import Amounts
from pipeline.plateau import Plateau
from pipeline.policy.controller import Controller
from pipeline.progress import Silent
from pipeline.run_folder import Outcome, Run
from pipeline.search import Search
from tasks.candidate import Candidate
from tests.fakes.judge import GPU, fake_judge
from tests.fakes.task import candidate, doubling_task

TASK = doubling_task()
DESIGNS = {
    "torch": "import torch\ndef run(x):\n    return torch.mul(x, {n}) # {words}\n",
    "dot": "import torch\ndef run(x):\n    return torch.matmul(x, {n})\n",
    "fp16": "import torch\ndef run(x):\n    return (x.half() * {n}).float()\n",
}


def design(kind: str, number: int, behaviour: str, agent: str = "user", words: str = "") -> Candidate:
    """Of a real structure, with the behaviour that the fake judge reads."""
    plain = candidate(behaviour, TASK, agent)
    source = f"# fake: {behaviour}\n" + DESIGNS[kind].format(n=number, words=words)
    file = plain.solution.sources[0].model_copy(update={"content": source})
    return plain.model_copy(update={"solution": plain.solution.model_copy(update={"sources": (file,)})})


class Designer:
    """Goes through behaviours in one design; what it is told changes the number it writes next."""

    def __init__(self, name: str, kind: str, behaviours: list[str]) -> None:
        self.name, self._kind, self._left, self._heard = name, kind, list(behaviours), 0

    def ask(self) -> Candidate | None:
        if not self._left:
            return None
        return design(self._kind, 1000 + self._heard, self._left.pop(0), self.name)

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        self._heard = (self._heard * 7 + int(candidate.digest[:4], 16)) % 997


class Flaky(Designer):
    """Fails at every third ask."""

    def ask(self) -> Candidate | None:
        if len(self._left) % 3 == 1:
            self._left.pop()
            raise RuntimeError("no idea today")
        return super().ask()


BUDGET = 14


def designers() -> dict[str, Designer]:
    slow = [f"accepted {4 + i / 100}" for i in range(9)]
    return {
        "a": Designer("a", "torch", ["accepted 4", "rejected runtime", "accepted 3", *slow]),
        "b": Flaky("b", "dot", ["accepted 2.5", "rejected path", "accepted 2.9", "accepted 2.2", *slow]),
        "c": Designer("c", "fp16", ["rejected numerical", "accepted 1", "accepted 1.03", *slow]),
    }


def judge(asked: Candidate) -> Outcome:
    """Takes the same time whenever it is asked."""
    cost = Amounts(gpu_us=7_000_000, wall_us=9_000_000)
    return Outcome(candidate=asked, verdict=fake_judge(TASK, asked, environment=GPU), cost=cost)


def searching(run: Run, board: Board | None, judging=judge, agents=None, **more) -> Search:
    names = agents or designers()
    return Search(
        run=run, judge=judging, progress=Silent(), by_measurement=True, agents=names, task=TASK, board=board,
        policy=Controller(tuple(names), 5, "memory", (10, 0), "tolerance"), plateau=Plateau(drafting=True),
        retention=Retention(rule="top", count=2), lookahead=2, **more,
    )  # fmt: skip


def play(run: Run, board_file: Path, **more) -> tuple[dict, str]:
    """The blackboard's state, and the champion."""
    with open_board(f"sqlite:///{board_file}", "the run", TASK.name) as board:
        found = searching(run, board, **more).go(BUDGET)
        assert board.broken_link() is None
        return board.state(), found[0].candidate.digest


def behaviours(state: dict) -> list[str]:
    return re.findall(r'"event":"(\w+)"', " ".join(row["content"] for row in state["events"]))
