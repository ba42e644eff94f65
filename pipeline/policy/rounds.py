"""Everybody in turn: no favour, nothing to learn."""

from collections.abc import Sequence

from pipeline.policy.base import Mode, Option


class Rounds:
    def __init__(self, agents: Sequence[str]) -> None:
        self._agents = tuple(agents)
        self._turn = 0

    def next(self, ready: Sequence[str], mode: Mode) -> Option | None:
        """Who comes next in the order of the agents, passing over those that are not ready."""
        for step in range(len(self._agents)):
            agent = self._agents[(self._turn + step) % len(self._agents)]
            if agent in ready:
                self._turn += step + 1
                return Option(agent=agent, mode=mode)
        return None

    def learn(self, option: Option, gain: float, cost_s: float) -> None:
        """Turns are turns."""
