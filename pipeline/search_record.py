"""The record of a search: every event in its journal and on its blackboard, before the next step is taken."""

from dataclasses import dataclass

from agents.memory import Remembered, Sibling
from pipeline.blackboard.board import Board
from pipeline.journal import Event
from pipeline.outcome import Ruling
from pipeline.policy.slot import Slot
from pipeline.proposing.base import Asked
from pipeline.ranking import latency_ms
from pipeline.run_folder import Outcome, Run


@dataclass
class Record:
    run: Run
    board: Board | None = None
    last_hash: str = ""

    def note(self, event: Event) -> bool:
        """Writes `event`; True when a replay took another turn just now, so that what follows is new."""
        journal = self.run.journal
        had_diverged = journal.has_diverged
        journal.append(event)
        if self.board is not None and event.event != "note":
            content = event.model_dump(mode="json", exclude_none=True)
            self.last_hash = self.board.append(event.event, content)
        return journal.has_diverged and not had_diverged

    def remember(self, changed: list[Remembered]) -> None:
        if self.board is not None:
            for remembered in changed:
                self.board.remember(remembered)

    def best_of(self, sibling: Sibling) -> None:
        if self.board is not None:
            self.board.best_of(sibling)


def asked_event(slot: Slot, asked: Asked, kind: str, text: str | None = None) -> Event:
    """Of a proposal: `asked`, `duplicate` or `unlike`."""
    candidate = asked.candidate
    return Event.model_validate(
        {
            "event": kind,
            "agent": slot.option.agent,
            "candidate": candidate.digest if candidate else None,
            "strategy": candidate.strategy if candidate and kind == "asked" else None,
            "skill": slot.option.skill,
            "cost": cost_of(asked),
            "text": text,
        }
    )


def fault_event(slot: Slot, asked: Asked) -> Event:
    number = slot.number if asked.forgotten else None
    return Event(event="fault", agent=slot.option.agent, number=number, cost=cost_of(asked), text=asked.fault)


def cost_of(asked: Asked) -> dict[str, int] | None:
    """What stands in an event of a proposal's cost; nothing for what was free."""
    return {name: units for name, units in asked.cost.model_dump().items() if units} or None


def judged_event(name: str, outcome: Outcome, ruling: Ruling) -> Event:
    verdict = outcome.verdict
    return Event(
        event="judged",
        agent=name,
        candidate=outcome.candidate.digest,
        status=verdict.status,
        reason=verdict.reason.code if verdict.reason else None,
        latency_ms=latency_ms(verdict),
        predicted_ms=outcome.predicted_ms,
        verdict=verdict.digest,
        ruling=ruling.word,
        text=ruling.why,
    )
