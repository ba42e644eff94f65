"""What a search knows at one moment. All of it follows from its events, in their order."""

import math
from dataclasses import dataclass, field

from agents.descriptor import Descriptor, describe
from agents.likeness import likeness
from agents.memory import Remembered, Sibling, View
from pipeline.blackboard.recall import Recall
from pipeline.ledger.breaker import Breaker
from pipeline.outcome import Ruling, Word
from pipeline.plateau import Plateau
from pipeline.ranking import latency_ms, leads
from pipeline.run_folder import Outcome
from tasks.candidate import Candidate

MOST_FAULTS = 3
"""An agent that fails so often in a row is not asked again."""


@dataclass
class Standing:
    """Of one agent."""

    breaker: Breaker = field(default_factory=Breaker)
    asks: int = 0
    faults_in_a_row: int = 0
    silent_since: int = -1
    """How much had been told when it last had nothing to propose; it may have more after the next."""
    retired: bool = False
    best: Outcome | None = None
    shelf: list[Candidate] = field(default_factory=list)
    """Its proposals that were no draft when one was wanted; they are judged later."""


@dataclass
class State:
    by_measurement: bool
    recall: Recall
    plateau: Plateau
    agents: dict[str, Standing]
    kernel_type: str = ""
    judged: dict[str, Outcome] = field(default_factory=dict)
    """By digest, without raw samples: these stay on disk."""
    told: int = 0
    incumbent: Outcome | None = None
    """The last that was kept, with its samples: what the next is compared with."""
    leader: Outcome | None = None
    """The best by its figure alone, sure or not."""
    _alike: dict[str, str] = field(default_factory=dict)
    _last_seen: tuple[str, str] = ("", "")
    """Digest and likeness of what was looked up last: it is kept next, as a rule."""

    def known(self, candidate: Candidate) -> Outcome | None:
        """The outcome of the same candidate, or of one that differs only in words."""
        digest = candidate.digest
        if digest not in self.judged:
            self._last_seen = (digest, likeness(candidate))
            digest = self._alike.get(self._last_seen[1], "")
        return self.judged.get(digest)

    def keep(self, outcome: Outcome) -> None:
        """Judged, and paid for."""
        light = without_samples(outcome)
        if light.verdict.status == "rejected":  # its reason is all that is told again
            light = light.model_copy(update={"verdict": light.verdict.model_copy(update={"workloads": ()})})
        digest = outcome.candidate.digest
        self.judged[digest] = light
        seen, alike = self._last_seen
        self._alike.setdefault(alike if seen == digest else likeness(outcome.candidate), digest)
        self.told += 1
        if leads(light, self.leader, self.by_measurement):
            self.leader = light

    def ruled(self, name: str, outcome: Outcome, ruling: Ruling) -> float:
        """Who is the incumbent now, and who the best of `name`; the gain in log time, 0 for none."""
        standing = self.agents[name]
        if leads(outcome, standing.best, self.by_measurement):
            standing.best = without_samples(outcome)
        if ruling.word is not Word.KEEP:
            return 0.0
        self.incumbent = outcome
        return -math.log(ruling.ratio) if ruling.ratio else 0.0

    def ready(self, draft: bool) -> list[str]:
        """The agents that may be asked now."""
        return [name for name, standing in self.agents.items() if self._is_ready(name, standing, draft)]

    def _is_ready(self, name: str, standing: Standing, draft: bool) -> bool:
        if standing.retired or standing.breaker.is_open(len(self.judged)):
            return False
        if draft and not self.plateau.may_draft(name):
            return False
        return bool(standing.shelf and not draft) or standing.silent_since < self.told

    def view(self, skill: str | None, draft: bool) -> View:
        """What an agent may read: values cut loose from everything here."""
        bests = [(name, s.best) for name, s in self.agents.items() if s.best is not None]
        siblings = [self.sibling(name, best) for name, best in bests]
        siblings.sort(key=lambda s: math.inf if s.latency_ms is None else s.latency_ms)
        return View(
            conclusions=self.recall.shown(self.kernel_type),
            siblings=tuple(siblings),
            differ_from=self.incumbent_descriptor() if draft else None,
            skill=skill,
        )

    def sibling(self, name: str, best: Outcome) -> Sibling:
        measured = latency_ms(best.verdict) if self.by_measurement else best.predicted_ms
        return Sibling(
            agent=name, candidate=best.candidate, latency_ms=measured, descriptor=describe(best.candidate)
        )

    def differs(self, candidate: Candidate) -> bool:
        """Whether it is another design than the incumbent's, by its code."""
        before = self.incumbent_descriptor()
        return before is None or bool(describe(candidate).differs_in(before))

    def heard(self, candidate: Candidate, gain: float) -> list[Remembered]:
        """The conclusions on its design that are now worth something else."""
        return self.recall.heard(describe(candidate), gain)

    def incumbent_descriptor(self) -> Descriptor | None:
        return describe(self.incumbent.candidate) if self.incumbent else None


def without_samples(outcome: Outcome) -> Outcome:
    """Thousands of these are kept in memory; raw times and logs are on disk."""
    return outcome.model_copy(
        update={"verdict": outcome.verdict.model_copy(update={"measurements": (), "log": ""})}
    )
