"""The conclusions of a search as they stand: how often each was drawn, and what it has been worth since."""

import math
from dataclasses import dataclass, field

from agents.descriptor import Descriptor
from agents.memory import Conclusion, Remembered
from pipeline.blackboard.retention import Retention

TRAP_VALUE = 0.1
"""In log time: what is thought to be saved by not stepping into a trap, before anything was seen of it."""

MOST_EVIDENCE = 32
"""Verdicts that a conclusion names; the first ones, and the count says how often it was drawn."""


@dataclass
class _Learned:
    first: Conclusion
    replications: int
    total: float
    seen: int

    @property
    def remembered(self) -> Remembered:
        return Remembered(conclusion=self.first, replications=self.replications, value=self.total / self.seen)


@dataclass
class Recall:
    """Follows from what was added and heard, in that order; no clock and no dice."""

    retention: Retention = field(default_factory=Retention)
    _known: dict[str, _Learned] = field(default_factory=dict)

    def add(self, conclusion: Conclusion) -> Remembered:
        """A new one, or one that was drawn before: then it is replicated, and the latest again."""
        worth = _worth(conclusion)
        known = self._known.pop(conclusion.key, None)
        if known is None:
            known = _Learned(conclusion, 1, worth, 1)
        else:
            evidence = tuple(dict.fromkeys((*known.first.evidence, *conclusion.evidence)))[:MOST_EVIDENCE]
            known = _Learned(
                known.first.model_copy(update={"evidence": evidence}),
                known.replications + 1,
                known.total + worth,
                known.seen + 1,
            )
        self._known[conclusion.key] = known
        return known.remembered

    def heard(self, descriptor: Descriptor, gain: float) -> list[Remembered]:
        """A later candidate of that design gained so much log time (0: nothing); what was thought of it shifts.

        A win whose design brings nothing more loses worth; so does a trap whose design turns out well.
        """
        changed = []
        for known in self._known.values():
            if known.first.descriptor == descriptor:
                known.total += gain if known.first.kind == "win" else (0.0 if gain > 0 else TRAP_VALUE)
                known.seen += 1
                changed.append(known.remembered)
        return changed

    def everything(self) -> tuple[Remembered, ...]:
        """Oldest first."""
        return tuple(known.remembered for known in self._known.values())

    def shown(self, kernel_type: str) -> tuple[Remembered, ...]:
        """What the retention leaves of one kernel type."""
        return self.retention.keep(
            [k.remembered for k in self._known.values() if k.first.scope.kernel_type == kernel_type]
        )


def _worth(conclusion: Conclusion) -> float:
    if conclusion.kind == "trap":
        return TRAP_VALUE
    return math.log(conclusion.speedup) if conclusion.speedup and conclusion.speedup > 0 else 0.0
