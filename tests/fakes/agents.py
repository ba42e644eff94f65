"""Agents that ask from a list, and one that listens to its verdicts."""

from collections.abc import Iterable

from guard.verdict import Verdict
from tasks.candidate import Candidate
from tests.fakes.task import candidate


class ListAgent:
    """Asks for what it was given, in order; remembers what it was told."""

    def __init__(self, name: str, behaviours: Iterable[str]) -> None:
        self.name = name
        self._left = [candidate(behaviour, agent=name) for behaviour in behaviours]
        self.told: list[tuple[str, str]] = []

    def ask(self) -> Candidate | None:
        return self._left.pop(0) if self._left else None

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        self.told.append((candidate.solution.name, verdict.status))


class Climber:
    """Asks next for a time that depends on all it was told: a replay that forgets a verdict goes astray."""

    name = "climber"

    def __init__(self, steps: int = 20) -> None:
        self._left, self._state = steps, 1

    def ask(self) -> Candidate | None:
        if self._left == 0:
            return None
        self._left -= 1
        time_ms = 1 + self._state % 97 / 10
        verb = "rejected numerical" if self._state % 5 == 0 else f"accepted {time_ms}"
        return candidate(f"sleeps 0.004 {verb} state {self._state}", agent=self.name)

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        seen = int(candidate.digest[:6], 16) + (1 if verdict.status == "accepted" else 2)
        self._state = (self._state * 31 + seen) % 100_003


class Parrot:
    """Asks for one and the same for ever."""

    def __init__(self, name: str = "parrot", behaviour: str = "accepted 3") -> None:
        self.name, self._behaviour = name, behaviour
        self.asked = 0

    def ask(self) -> Candidate | None:
        self.asked += 1
        return candidate(self._behaviour, agent=self.name)

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        return None
