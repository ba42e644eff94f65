"""The template agent: every family that recognises the task, each tuned by its own study, in turns."""

from collections import deque
from dataclasses import dataclass
from typing import Any

from agents.latency import target_latency_ms
from agents.templates import FAMILIES
from agents.templates.base import Family, Knobs
from agents.tuner import Tuner
from agents.warm_start.starts import Starts
from guard.verdict import Verdict
from tasks.candidate import Candidate
from tasks.solution import Hardware
from tasks.task import Task


@dataclass(frozen=True)
class _Tuned:
    family: Family
    match: Any
    tuner: Tuner


class TemplateAgent:
    name = "template"

    def __init__(
        self, task: Task, seed: int, *, target: Hardware = Hardware.B200, starts: Starts | None = None
    ) -> None:
        """`starts`: predicted settings by family, tried before those of experience."""
        self._task, self._target = task, target
        self._turns: deque[_Tuned] = deque()
        for family in FAMILIES.values():
            match = family.matches(task)
            if match is not None:
                first = (starts or {}).get(family.name, ())
                self._turns.append(_Tuned(family, match, Tuner(family.knobs(match), seed, first=first)))
        self._asked: dict[str, tuple[_Tuned, Knobs]] = {}

    def ask(self) -> Candidate | None:
        for _ in range(len(self._turns)):
            tuned = self._turns[0]
            self._turns.rotate(-1)
            candidate = self._next_of(tuned)
            if candidate is not None:
                return candidate
        return None

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        if candidate.digest not in self._asked:
            return
        tuned, knobs = self._asked[candidate.digest]
        if verdict.status == "rejected":
            tuned.tuner.tell_rejected(knobs)
        else:
            measured = target_latency_ms(verdict)
            tuned.tuner.tell(knobs, predicted_ms if measured is None else measured)

    def _next_of(self, tuned: _Tuned) -> Candidate | None:
        """The next setting whose source is new: knobs that change nothing are told as known and passed over."""
        while (knobs := tuned.tuner.ask()) is not None:
            candidate = tuned.family.render(tuned.match, knobs).candidate(self._task, self.name, self._target)
            if candidate.digest not in self._asked:
                self._asked[candidate.digest] = (tuned, knobs)
                return candidate
            tuned.tuner.tell(knobs, None)
        return None
