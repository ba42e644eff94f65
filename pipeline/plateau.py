"""The plateau: how likely the next candidate is to improve, when to ask for another design, when to stop.

The chance falls with r, the benchmarked candidates in a row that brought nothing: h0(r) = 0.06 + 0.27 exp(-r / 1.5),
from 494 recorded evaluations of an earlier fleet. A search scales it by what it has seen itself.
"""

import math
from dataclasses import dataclass, field

from pipeline.outcome import Word

DRAFT_AT = 3
"""Stale candidates after which another design is wanted: a switch then won 17.5 % of the time, going on 7.5 %."""
GRACE = 2
"""Candidates after a draft that are not held against the search: a new design is rarely best at once."""
PRIOR_WEIGHT = 4.0
"""Improvements that the recorded chance is worth against those seen here."""


def prior_hazard(stale: int) -> float:
    return 0.06 + 0.27 * math.exp(-stale / 1.5)


@dataclass
class Plateau:
    """Follows from the rulings alone. `patience`: stale candidates after which a search stops; None: never."""

    patience: int | None = None
    drafting: bool = True
    stale: int = 0
    grace: int = 0
    drafts: int = 0
    _improved: int = 0
    _expected: float = 0.0
    _declined: set[str] = field(default_factory=set)

    def heard(self, word: Word, was_draft: bool = False) -> None:
        """A ruling. What the gate refused was never benchmarked and counts for nothing."""
        if word is Word.REJECT:
            return
        self._expected += prior_hazard(self.stale)
        if word is Word.KEEP:
            self._improved += 1
            self.stale = self.grace = 0
        elif was_draft:
            self.stale += 1
        elif self.grace > 0:
            self.grace -= 1
        else:
            self.stale += 1
        if was_draft:
            self.drafted()

    @property
    def hazard(self) -> float:
        """The chance that the next candidate improves: the recorded one, scaled by this search's own luck."""
        return prior_hazard(self.stale) * (PRIOR_WEIGHT + self._improved) / (PRIOR_WEIGHT + self._expected)

    @property
    def wants_draft(self) -> bool:
        """Another design is wanted every `DRAFT_AT` stale candidates, but not while the last one has its grace."""
        due = self.stale >= DRAFT_AT * (self.drafts + 1)
        return self.drafting and due and self.grace == 0

    def declined(self, agent: str) -> None:
        """`agent` was asked for another design and had none."""
        self._declined.add(agent)

    def may_draft(self, agent: str) -> bool:
        return agent not in self._declined

    def drafted(self) -> None:
        """A draft was judged, or nobody has one: either way the search goes on before it asks for the next."""
        self.drafts += 1
        self.grace = GRACE
        self._declined.clear()

    def stop(self) -> str | None:
        """Why to stop, in one sentence."""
        if self.patience is None or self.stale < self.patience or self.grace > 0:
            return None
        drafts = f", {self.drafts} drafts among them" if self.drafts else ""
        return (
            f"{self.stale} candidates in a row brought nothing{drafts}; "
            f"the next would improve with a chance of {self.hazard:.0%}"
        )
