"""The seam: of the options that are ready, one; and afterwards what became of it."""

from collections.abc import Sequence
from typing import Literal, Protocol

from tasks.value import Value

Mode = Literal["improve", "draft"]


class Option(Value):
    """One way to spend the next attempt."""

    agent: str
    skill: str | None = None
    """For agents that can work by several."""
    mode: Mode = "improve"


class Policy(Protocol):
    """Deterministic in its seed and what it was told."""

    def next(self, ready: Sequence[str], mode: Mode) -> Option | None:
        """An option of one of the agents in `ready`, never empty; None: rather none of them."""
        ...

    def learn(self, option: Option, gain: float, cost_s: float) -> None:
        """An attempt brought `gain` (log time saved, 0 for nothing) and took `cost_s` seconds."""
        ...
