"""The base of agents that go through a list of proposals, made one at a time as they are asked for."""

from collections.abc import Iterable
from itertools import chain, islice

from agents.proposal import Proposal
from guard.verdict import Verdict
from tasks.candidate import Candidate
from tasks.solution import Hardware
from tasks.task import Task


class ListedAgent:
    """A subclass may learn from verdicts which of its proposals are not worth asking for."""

    name: str

    def __init__(
        self, name: str, task: Task, proposals: Iterable[Proposal], target: Hardware = Hardware.B200
    ) -> None:
        self.name, self._task, self._target = name, task, target
        self._proposals = iter(proposals)
        self._first: list[Proposal] = []
        self._fault: Exception | None = None
        self._asked: dict[str, Proposal] = {}

    def prepare(self) -> None:
        """Make the first proposal before it is asked for; what goes wrong is raised when it is."""
        if self._asked or self._first:
            return
        try:
            self._first.extend(islice(self._proposals, 1))
        except Exception as error:  # noqa: BLE001 - whoever asks is to hear of it
            self._fault = error

    def ask(self) -> Candidate | None:
        fault, self._fault = self._fault, None
        if fault is not None:
            raise fault
        first, self._first = self._first, []
        for proposal in chain(first, self._proposals):
            if self.is_worth_asking(proposal):
                candidate = proposal.candidate(self._task, self.name, self._target)
                if candidate.digest not in self._asked:
                    self._asked[candidate.digest] = proposal
                    return candidate
        return None

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        """Nothing to learn by default."""

    def is_worth_asking(self, proposal: Proposal) -> bool:
        """False for what verdicts have made pointless."""
        return True

    def proposal_of(self, candidate: Candidate) -> Proposal | None:
        """What `candidate` was made of, when this agent asked for it."""
        return self._asked.get(candidate.digest)
