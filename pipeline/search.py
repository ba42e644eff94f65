"""The search: agents propose in turn, the judge decides, every step is on disk before the next."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from guard.errors import GuardBroken
from pipeline.journal import Event
from pipeline.progress import Progress
from pipeline.ranking import latency_ms, ranked
from pipeline.run_folder import Outcome, Run, remembered
from tasks.candidate import Candidate

if TYPE_CHECKING:
    from agents.base import Agent

Judge = Callable[[Candidate], Outcome]
"""The verdict, and what is foreseen for the target; without a target GPU this is what ranks."""

MOST_DUPLICATES = 25
"""An agent that asks this often in a row for what is already judged has nothing more to say."""


@dataclass
class Search:
    """One search. Its state follows from the run folder alone, so a killed run is played again to its end."""

    run: Run
    judge: Judge
    progress: Progress
    by_measurement: bool
    agents: "Mapping[str, Agent]"
    judged: dict[str, Outcome] = field(default_factory=dict)
    duplicates: dict[str, int] = field(default_factory=dict)

    def go(self, budget: int) -> list[Outcome]:
        """Round robin until the budget is spent or a round brings nothing new; the accepted, best first.

        Raises `GuardBroken` when the same candidate breaks the guard twice: the run can be resumed.
        """
        self.progress.begin(budget)
        turning = True
        while turning and len(self.judged) < budget:
            turning = any([self._turn(name, budget) for name in self.agents])
        self._note(Event(event="searched", text=f"{len(self.judged)} candidates"))
        return ranked(self.judged.values(), self.by_measurement)

    def _turn(self, name: str, budget: int) -> bool:
        """One agent's turn; False when nothing came of it. An agent that is silent now may speak later."""
        if len(self.judged) >= budget or self.duplicates.get(name, 0) >= MOST_DUPLICATES:
            return False
        candidate = self.agents[name].ask()
        if candidate is None:
            return False
        known = self.judged.get(candidate.digest)
        if known is None:
            self.duplicates[name] = 0
            self._tell(candidate, self._judged(name, candidate))
        else:
            self._refuse(name, candidate, known)
        return True

    def _tell(self, candidate: Candidate, outcome: Outcome) -> None:
        """Every agent hears every verdict: what one found out is no secret to the others."""
        for agent in self.agents.values():
            agent.tell(candidate, outcome.verdict, predicted_ms=outcome.predicted_ms)

    def _refuse(self, name: str, candidate: Candidate, known: Outcome) -> None:
        """A duplicate costs no budget; the one who asked is told again, and not without end."""
        self._note(Event(event="duplicate", agent=name, candidate=candidate.digest))
        self.agents[name].tell(candidate, known.verdict, predicted_ms=known.predicted_ms)
        self.duplicates[name] = self.duplicates.get(name, 0) + 1
        if self.duplicates[name] == MOST_DUPLICATES:
            self._note(Event(event="retired", agent=name, text="asks only for duplicates"))

    def _judged(self, name: str, candidate: Candidate) -> Outcome:
        self._note(Event(event="asked", agent=name, candidate=candidate.digest, strategy=candidate.strategy))
        self.progress.asked(name, candidate)
        outcome = remembered(
            self.run.outcome(candidate),
            lambda: self._with_one_retry(candidate),
            self.run.keep_outcome,
        )
        self.judged[candidate.digest] = outcome
        self._note(_judged_event(name, outcome))
        best = ranked(self.judged.values(), self.by_measurement)
        self.progress.judged(outcome, best[0] if best else None)
        return outcome

    def _note(self, event: Event) -> None:
        """Where a replay takes another turn, what the first turn had judged is kept, and stays paid for."""
        had_diverged = self.run.journal.has_diverged
        self.run.journal.append(event)
        if self.run.journal.has_diverged and not had_diverged:
            self.judged |= {outcome.candidate.digest: outcome for outcome in self.run.outcomes()}

    def _with_one_retry(self, candidate: Candidate) -> Outcome:
        """A machine hiccups once; twice on the same candidate is no hiccup."""
        try:
            return self.judge(candidate)
        except GuardBroken as error:
            self._note_broken(candidate, error)
        try:
            return self.judge(candidate)
        except GuardBroken as error:
            self._note_broken(candidate, error)
            raise

    def _note_broken(self, candidate: Candidate, error: GuardBroken) -> None:
        self.progress.note(f"the guard broke on {candidate.digest[:12]}: {error}")
        self.run.journal.append(
            Event(event="note", candidate=candidate.digest, text=f"the guard broke: {error}")
        )


def _judged_event(name: str, outcome: Outcome) -> Event:
    verdict = outcome.verdict
    return Event(
        event="judged",
        agent=name,
        candidate=outcome.candidate.digest,
        status=verdict.status,
        reason=verdict.reason.code if verdict.reason else None,
        latency_ms=latency_ms(verdict),
        predicted_ms=outcome.predicted_ms,
    )
