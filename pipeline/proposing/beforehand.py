"""First proposals made while somebody else's candidate is judged, where nothing is timed: a core is free then.

An agent that can say without any verdict what it will propose first may make that now; whether it is asked for it, when,
and what it has heard by then stays as it is. So the search is the same one, and only waits less.
"""

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol, runtime_checkable

from pipeline.proposing.base import Proposer

_TURNS = 2
"""As far ahead: the first judgement has the reference's own values to draw, and no core to spare for the slowest."""


@runtime_checkable
class Preparing(Protocol):
    def prepare(self) -> None:
        """Make the first proposal, and keep it until it is asked for; never raises."""
        ...


class Beforehand:
    """One after the other, in the order in which agents have their turns."""

    def __init__(self, proposers: Mapping[str, Proposer]) -> None:
        self._waiting = [(name, p) for name, p in proposers.items() if isinstance(p, Preparing)]
        self._order = list(proposers)
        self._making: dict[str, Future[None]] = {}
        self._pool: ThreadPoolExecutor | None = None

    def begin(self, judged: str, candidates_left: int) -> None:
        """While a candidate of `judged` is before the judge; only those whose turn comes before the budget ends."""
        after = self._order.index(judged) + 1 if judged in self._order else 0
        soon = self._order[after : after + min(candidates_left, _TURNS)]
        for name, proposer in [one for one in self._waiting if one[0] in soon]:
            self._waiting.remove((name, proposer))
            self._pool = self._pool or ThreadPoolExecutor(1)
            self._making[name] = self._pool.submit(proposer.prepare)

    def expect(self, name: str) -> None:
        """Wait until nothing is being made for `name`, who is about to be asked."""
        self._waiting = [one for one in self._waiting if one[0] != name]
        making = self._making.pop(name, None)
        if making is not None:
            making.result()

    def close(self) -> None:
        """What was not begun is left; what was is waited for."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
