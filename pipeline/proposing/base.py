"""The seam: a proposer is asked now and answers later; whatever it does, an answer comes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from agents.memory import View
from agents.spending import Spent
from guard.verdict import Verdict
from tasks.candidate import Candidate
from tasks.task import Task

LONGEST_STRATEGY = 400
NO_COST = Spent()


@dataclass(frozen=True)
class Asked:
    """What came of one ask: a candidate, nothing (all three are empty), or a fault in one sentence."""

    candidate: Candidate | None = None
    fault: str | None = None
    cost: Spent = NO_COST
    forgotten: bool = False
    """Its process ended: whoever plays the run again must not ask this, for the agent does not remember it."""


Viewing = Callable[[], View]
"""Makes the view; for agents that do not read, it is not made."""
Ticket = Callable[[], Asked]
"""Waits for the answer; never raises."""


@runtime_checkable
class Proposer(Protocol):
    name: str

    def begin(self, view: Viewing) -> Ticket:
        """Ask. What was told before is heard before, and `view` is called now or never."""
        ...

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None: ...

    def close(self) -> None:
        """Leaves no process; may be called twice."""
        ...


def checked(candidate: Candidate | None, name: str, task: Task | None, cost: Spent) -> Asked:
    """The answer, with what a proposer may not decide put right: for whom it is, and who speaks."""
    if candidate is None:
        return Asked(cost=cost)
    definition = task.definition if task else None
    if definition is not None and (
        candidate.definition_digest != definition.digest or candidate.solution.definition != definition.name
    ):
        return Asked(fault="proposed a candidate for another definition", cost=cost)
    strategy = printable(candidate.strategy)
    if (candidate.agent, candidate.strategy) != (name, strategy):
        candidate = candidate.model_copy(update={"agent": name, "strategy": strategy})
    return Asked(candidate=candidate, cost=cost)


def printable(text: str) -> str:
    """One line without control characters: it is shown on terminals and told to others."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:LONGEST_STRATEGY]
