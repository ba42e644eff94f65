"""The seam: an agent is asked for candidates and told what the guard said of them."""

from typing import Protocol

from guard.verdict import Verdict
from tasks.candidate import Candidate
from tasks.solution import Hardware
from tasks.task import Task


class Agent(Protocol):
    """Deterministic: the same task, seed, asks and verdicts give the same candidates.

    An agent keeps everything in memory; it writes no file and starts no process.
    """

    name: str

    def ask(self) -> Candidate | None:
        """The next candidate, never one that was asked before; None when there is nothing (more) to propose.

        An agent whose proposals depend on verdicts may answer None now and more after the next `tell`; one
        whose candidates have all been judged and that still answers None is exhausted, and stays so.
        """
        ...

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        """What became of `candidate`, this agent's or another's; never raises, whatever the verdict says.

        `predicted_ms` is what a roofline model expects on the target; it is used when the verdict holds no
        time taken on a GPU.
        """
        ...


class AgentFactory(Protocol):
    def __call__(self, task: Task, seed: int, *, target: Hardware = Hardware.B200) -> Agent:
        """An agent for `task`; what it proposes names `target` as its hardware."""
        ...
