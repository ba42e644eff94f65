"""The search: agents propose, the judge decides, every step is on disk before the next.

While one candidate is judged, `lookahead` - 1 more are being proposed. An agent that is asked has heard of exactly
the candidates that were decided when it was asked, however fast or slow anybody is: so a run can be played again.
"""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal

from pipeline.blackboard.concluding import conclude
from pipeline.blackboard.recall import Recall
from pipeline.blackboard.retention import Retention
from pipeline.journal import Event
from pipeline.lane import Judge, Lane, paid_for
from pipeline.ledger import Amounts, Exhausted, Ledger
from pipeline.outcome import rule_on
from pipeline.plateau import Plateau
from pipeline.policy import Option, Policy, Rounds
from pipeline.policy.slot import Slot
from pipeline.progress import Progress
from pipeline.proposing import Asked, Inside, Proposer, Ticket
from pipeline.proposing.beforehand import Beforehand
from pipeline.ranking import ranked
from pipeline.run_folder import Outcome, Run
from pipeline.search_record import Record, asked_event, fault_event, judged_event
from pipeline.search_state import MOST_FAULTS, Standing, State, without_samples
from tasks.candidate import Candidate
from tasks.task import Task

if TYPE_CHECKING:
    from agents.base import Agent
    from pipeline.blackboard.board import Board

ATTEMPTS_A_CANDIDATE = 20
"""Proposals that may be refused for each candidate of the budget before a search is given up."""


@dataclass
class Search:
    """One search. Its state follows from the run folder alone, so a killed run is played again to its end."""

    run: Run
    judge: Judge
    progress: Progress
    by_measurement: bool
    agents: "Mapping[str, Agent | Proposer]"
    task: Task | None = None
    board: "Board | None" = None
    policy: Policy | None = None
    plateau: Plateau = field(default_factory=lambda: Plateau(drafting=False))
    retention: Retention = field(default_factory=Retention)
    caps: Mapping[str, int] = field(default_factory=dict)
    """Of any currencies beside candidates."""
    lookahead: int = 1

    def __post_init__(self) -> None:
        self._proposers = {
            name: agent if isinstance(agent, Proposer) else Inside(name, agent, self.task)
            for name, agent in self.agents.items()
        }
        kernel_type = (self.task.definition.op_type or self.task.definition.name) if self.task else ""
        self.state = State(
            by_measurement=self.by_measurement,
            recall=Recall(self.retention),
            plateau=self.plateau,
            agents={name: Standing() for name in self.agents},
            kernel_type=kernel_type,
        )
        self._beforehand = Beforehand({} if self.by_measurement else self._proposers)
        self._policy = self.policy or Rounds(tuple(self.agents))
        self._record = Record(self.run, self.board)
        self._lane = Lane(self.run, self.judge, self.progress)
        self._faults = self.run.journal.faults
        self._slots: deque[Slot] = deque()
        self._attempts = 0

    def go(self, budget: int) -> list[Outcome]:
        """Until a rule says stop, which is noted with its reason; the accepted, best first.

        Raises `GuardBroken` when the same candidate breaks the guard twice: the run can be resumed.
        """
        self.ledger = Ledger(
            {"candidates": budget, "attempts": ATTEMPTS_A_CANDIDATE * (budget + 5), **self.caps}
        )
        self.progress.begin(budget)
        try:
            while (why := self._reason_to_stop()) is None:
                self._take(self._slots.popleft())
        finally:
            for close in (self._beforehand.close, *(p.close for p in self._proposers.values())):
                close()
        self._note(Event(event="searched", text=f"{len(self.state.judged)} candidates; {why}"))
        self.progress.note(f"stopped: {why}")
        return ranked(self.state.judged.values(), self.by_measurement)

    def _reason_to_stop(self) -> str | None:
        spent = self.ledger.exhausted()
        if spent is not None:
            return f"the budget of {spent.replace('_', ' ')} is spent"
        why = self.plateau.stop()
        if why is not None:
            return why
        self._fill()
        return None if self._slots else "no agent has anything more to propose"

    def _fill(self) -> None:
        """As many asks under way as there may be candidates."""
        while len(self._slots) < min(self.lookahead, self.ledger.left("candidates") or 0):
            option = self._next_option()
            if option is None:
                return
            self._slots.append(self._asked(option))

    def _next_option(self) -> Option | None:
        """A draft when one is wanted, and when nobody is left who could make one, anything."""
        is_drafting = any(slot.option.mode == "draft" for slot in self._slots)
        if self.plateau.wants_draft and not is_drafting and self.state.incumbent is not None:
            ready = self.state.ready(draft=True)
            option = self._policy.next(ready, "draft") if ready else None
            if option is not None:
                return option
            self.plateau.drafted()
            self._note(Event(event="drafting", text="nobody has another design; going on without"))
        ready = self.state.ready(draft=False)
        return self._policy.next(ready, "improve") if ready else None

    def _asked(self, option: Option) -> Slot:
        standing, is_draft = self.state.agents[option.agent], option.mode == "draft"
        number = standing.asks = standing.asks + 1
        known = self._faults.get((option.agent, number))
        if known is not None:
            ticket: Ticket = lambda: Asked(fault=known, forgotten=True)  # noqa: E731
        elif standing.shelf and not is_draft:
            shelved = standing.shelf.pop(0)
            ticket = lambda: Asked(candidate=shelved)  # noqa: E731
        else:
            self._beforehand.expect(option.agent)
            ticket = self._proposers[option.agent].begin(partial(self.state.view, option.skill, is_draft))
        return Slot(option, ticket, self.state.told, number)

    def _take(self, slot: Slot) -> None:
        """What became of one ask."""
        asked, name = slot.ticket(), slot.option.agent
        standing = self.state.agents[name]
        self.ledger.charge(f"{name} {slot.number}", Amounts.of(asked.cost.model_dump()))
        if asked.fault is not None:
            self._failed(slot, asked)
            return
        standing.faults_in_a_row = 0
        if asked.candidate is None:
            standing.silent_since = slot.told
            if slot.option.mode == "draft":
                self.plateau.declined(name)
            return
        self._attempts += 1
        about = f"attempt {self._attempts}"
        try:
            self.ledger.reserve(about, Amounts(candidates=1, attempts=1))
        except Exhausted:
            return
        self._tried(slot, asked, asked.candidate, about)

    def _tried(self, slot: Slot, asked: Asked, candidate: Candidate, about: str) -> None:
        name = slot.option.agent
        known = self.state.known(candidate)
        if known is not None:
            self.ledger.settle(about, Amounts(attempts=1))
            self._refuse(slot, asked, candidate, known)
        elif slot.option.mode == "draft" and not self.state.differs(candidate):
            self.ledger.settle(about, Amounts(attempts=1))
            self.state.agents[name].shelf.append(candidate)
            self.plateau.declined(name)
            self._note(asked_event(slot, asked, "unlike", "a draft was wanted; kept for later"))
        else:
            self._judge_new(slot, asked, candidate, about)

    def _judge_new(self, slot: Slot, asked: Asked, candidate: Candidate, about: str) -> None:
        name = slot.option.agent
        self.state.agents[name].breaker.new()
        self._note(asked_event(slot, asked, "asked", "a draft" if slot.option.mode == "draft" else None))
        self.progress.asked(name, candidate)
        self._beforehand.begin(name, self.ledger.left("candidates") or 0)
        try:
            outcome = self._lane.outcome(candidate)
        except BaseException:
            self.ledger.void(about)
            raise
        self.ledger.settle(about, paid_for(outcome))
        self._decide(slot, outcome)
        self.progress.judged(outcome, self.state.leader)

    def _decide(self, slot: Slot, outcome: Outcome) -> None:
        """Ruling, conclusion, memory, and then everybody is told."""
        name, parent = slot.option.agent, self.state.incumbent
        ruling = rule_on(outcome, parent, self.by_measurement)
        self.state.keep(outcome)
        before = self.state.agents[name].best
        gain = self.state.ruled(name, outcome, ruling)
        best = self.state.agents[name].best
        self._note(judged_event(name, outcome, ruling))
        if best is not None and best is not before:
            self._record.best_of(self.state.sibling(name, best))
        self.plateau.heard(ruling.word, slot.option.mode == "draft")
        self._record.remember(self.state.heard(outcome.candidate, gain))
        found = conclude(self.task, outcome, ruling, parent) if self.task else None
        if found is not None:
            self._note(
                Event(event="conclusion", agent=name, candidate=outcome.candidate.digest, conclusion=found)
            )
            self._record.remember([self.state.recall.add(found)])
        self._policy.learn(slot.option, gain, outcome.cost.wall_us / 1e6)
        light = without_samples(outcome)
        for proposer in self._proposers.values():
            proposer.tell(outcome.candidate, light.verdict, predicted_ms=outcome.predicted_ms)

    def _refuse(self, slot: Slot, asked: Asked, candidate: Candidate, known: Outcome) -> None:
        """A duplicate costs an attempt and no candidate; the one who asked is told again, and not without end."""
        name, breaker = slot.option.agent, self.state.agents[slot.option.agent].breaker
        digest = known.candidate.digest
        near = None if digest == candidate.digest else f"in all but words {digest}"
        self._note(asked_event(slot, asked, "duplicate", near))
        self._proposers[name].tell(candidate, known.verdict, predicted_ms=known.predicted_ms)
        self._policy.learn(slot.option, 0.0, 0.0)
        if breaker.refused(len(self.state.judged)):
            kind: Literal["retired", "rested"] = "retired" if breaker.is_final else "rested"
            self._note(Event(event=kind, agent=name, text="asks only for duplicates"))

    def _failed(self, slot: Slot, asked: Asked) -> None:
        """A proposer hung, crashed or answered nonsense: an attempt is lost, the search goes on."""
        name, standing = slot.option.agent, self.state.agents[slot.option.agent]
        self.ledger.charge(f"{name} {slot.number}", Amounts(attempts=1))
        self._note(fault_event(slot, asked))
        self.progress.note(f"{name} made no proposal: {asked.fault}")
        if slot.option.mode == "draft":
            self.plateau.declined(name)
        standing.faults_in_a_row += 1
        if standing.faults_in_a_row >= MOST_FAULTS:
            standing.retired = True
            self._note(Event(event="retired", agent=name, text=f"failed {MOST_FAULTS} times in a row"))

    def _note(self, event: Event) -> None:
        """Where a replay takes another turn, what the first turn had judged is kept, and stays paid for."""
        if self._record.note(event):
            for outcome in self.run.outcomes():
                if outcome.candidate.digest not in self.state.judged:
                    self.state.keep(outcome)
                    self.ledger.charge(f"kept {outcome.candidate.digest[:12]}", paid_for(outcome))
