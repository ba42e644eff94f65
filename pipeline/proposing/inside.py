"""A proposer in the search's own process: nothing to start, and nothing that could end what hangs."""

from agents.base import Agent
from agents.memory import Reader
from agents.spending import Spender
from guard.verdict import Verdict
from pipeline.proposing.base import NO_COST, Asked, Ticket, Viewing, checked, printable
from pipeline.proposing.beforehand import Preparing
from tasks.candidate import Candidate
from tasks.task import Task


class Inside:
    """Answers at once. An agent that raises has made no proposal; the search goes on."""

    def __init__(self, name: str, agent: Agent, task: Task | None = None) -> None:
        self.name, self._agent, self._task = name, agent, task
        self._ailment: str | None = None

    def begin(self, view: Viewing) -> Ticket:
        ailment, self._ailment = self._ailment, None
        if ailment is not None:
            answer = Asked(fault=ailment)
        else:
            answer = asked_of(self._agent, self.name, view, self._task)
        return lambda: answer

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        self._ailment = told(self._agent, candidate, verdict, predicted_ms) or self._ailment

    def prepare(self) -> None:
        """Have the agent make its first proposal, where it can."""
        if isinstance(self._agent, Preparing):
            self._agent.prepare()

    def close(self) -> None:
        """Nothing was started."""


def asked_of(agent: Agent, name: str, view: Viewing, task: Task | None) -> Asked:
    """One ask of an agent that may do anything but hang."""
    candidate, fault = None, None
    try:
        if isinstance(agent, Reader):
            agent.see(view())
        candidate = agent.ask()
        if candidate is not None and not isinstance(candidate, Candidate):
            candidate, fault = None, f"proposed a {type(candidate).__name__}, which is no candidate"
    except Exception as error:  # noqa: BLE001 - agents are anybody's code
        fault = _said(error)
    cost = agent.take_spent() if isinstance(agent, Spender) else NO_COST
    return Asked(fault=fault, cost=cost) if fault else checked(candidate, name, task, cost)


def told(agent: Agent, candidate: Candidate, verdict: Verdict, predicted_ms: float | None) -> str | None:
    """What went wrong with an agent that cannot bear a verdict; it counts as its next answer."""
    try:
        agent.tell(candidate, verdict, predicted_ms=predicted_ms)
    except Exception as error:  # noqa: BLE001 - agents are anybody's code
        return _said(error)
    return None


def _said(error: Exception) -> str:
    return printable(f"{type(error).__name__}: {error}")
