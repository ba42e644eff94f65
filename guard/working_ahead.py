"""What the reference makes on a CPU while a worker is long at a call: the values that later calls will ask for.

Drawing a set takes as long as many a call. Whoever compiles or interprets leaves a core free for longer than that, and
sets are kept for all candidates. On a GPU it would disturb what is being timed.
"""

from collections.abc import Callable, Iterator
from functools import partial

from guard.bank import SEEDS, Drawn
from guard.kinds import NEVER_TIMED
from guard.reference_values import Values

_ROUNDS = 10
"""Of the final judgement: its official rounds are those of a search and more, in the same stream."""
_VARIED = 2
"""One a process of the final judgement."""
_LEAST_PATIENCE_S = 0.05


class WorkingAhead:
    """One draw at a time, as long as there is room to keep it. What goes wrong is left to the call that needs it."""

    def __init__(self, values: Values, draw_s: float, draw_bytes: int) -> None:
        self.patience_s = max(_LEAST_PATIENCE_S, draw_s)
        """A request that comes within a draw's time is never kept waiting; a later one for one draw at most."""
        self._bank, self._draws, self._largest = values.bank, _draws(values), draw_bytes

    def step(self) -> bool:
        """Make the next set; False when there is none, or no room."""
        try:
            if not self._bank.has_room(self._largest):
                return False
            self._largest = max(self._largest, next(self._draws)().bytes)
        except StopIteration:
            return False
        except Exception:  # noqa: BLE001 - the definition's code; it fails again where somebody can be told
            self._draws = iter(())
            return False
        return True


def _draws(values: Values) -> Iterator[Callable[[], Drawn]]:
    """What every candidate's measured calls take comes first, then the official stream of a judgement without failures."""
    workloads = range(len(values.task.workloads))
    for index in workloads:
        for kind in ("fresh", *NEVER_TIMED):
            for seed in range(_VARIED if kind == "varied" else SEEDS["cpu"]):
                yield partial(values.fresh, index, seed, kind)
    for index in workloads:
        for round_ in range(_ROUNDS):
            yield partial(values.official, index, round_, (_ROUNDS,) * index)
