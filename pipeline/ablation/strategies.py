"""The ways to search that are compared, by name; all have the tuner's seam and know only what they are told."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from agents.templates.base import Knob, Knobs
from agents.tuner import Learner, Tuner
from agents.warm_start.record import Record
from agents.warm_start.starts import ranked
from agents.warm_start.surrogate import Surrogate, is_installed
from pipeline.ablation.boosted import Boosted
from pipeline.ablation.genetic import Genetic
from pipeline.ablation.ground import Ground, key_of, nearest_ground

STARTS = 16
"""Predicted settings before the learner takes over."""
_FORESTS = 5
"""Different ones over the seeds: growing them is what costs."""


class Searching(Protocol):
    def ask(self) -> dict[str, Knob] | None: ...

    def tell(self, knobs: Knobs, time_ms: float | None) -> None: ...

    def tell_rejected(self, knobs: Knobs) -> None: ...


Strategy = Callable[[Ground, Sequence[Ground], int], Searching]
"""Made of a ground, the grounds that were recorded before, and a seed."""


class Ordered:
    """Settings in an order that nothing changes."""

    def __init__(self, settings: Sequence[Knobs]) -> None:
        self._left = [dict(knobs) for knobs in settings]

    def ask(self) -> dict[str, Knob] | None:
        return self._left.pop(0) if self._left else None

    def tell(self, knobs: Knobs, time_ms: float | None) -> None:
        """Nothing is learned."""

    def tell_rejected(self, knobs: Knobs) -> None:
        """Nothing is learned."""


def at_random(ground: Ground, others: Sequence[Ground], seed: int) -> Searching:
    return Ordered(_shuffled(ground, seed))


def tuned(learner: Learner) -> Strategy:
    return lambda ground, others, seed: Tuner(ground.space, seed, learner)


def copied(ground: Ground, others: Sequence[Ground], seed: int) -> Searching:
    """The best of the nearest shape, then its second, and so on, each as near as it was recorded; then at random."""
    source = nearest_ground(ground, others)
    timed = (
        sorted((r for r in source.records if r.ms is not None), key=lambda r: r.ms or 0.0) if source else []
    )
    order = {key_of(near): near for near in (ground.nearest(record.knobs) for record in timed)}
    return Ordered([*order.values(), *(k for k in _shuffled(ground, seed) if key_of(k) not in order)])


def warm(learner: Learner, own_family: bool, starts: int = STARTS) -> Strategy:
    """Predicted settings, then the learner. `own_family` False: from records of other families alone."""

    def make(ground: Ground, others: Sequence[Ground], seed: int) -> Searching:
        known = tuple(g for g in others if own_family or g.family != ground.family)
        first: list[dict[str, Knob]] = []
        settings = [dict(record.knobs) for record in ground.records]
        surrogate = _surrogate(tuple(r for g in known for r in g.records), seed % _FORESTS) if known else None
        if surrogate is not None:
            first = [settings[place] for place in ranked(surrogate, ground.family, [ground.axes], settings)]
        return Tuner(ground.space, seed, learner, first[:starts])

    return make


def _surrogate(records: tuple[Record, ...], seed: int) -> Surrogate | None:
    return _grown(_Same(records), seed)


@dataclass(frozen=True, eq=False)
class _Same:
    """Records that are recognised by being the same ones, so that they need not be compared."""

    records: tuple[Record, ...]

    def __hash__(self) -> int:
        return hash(tuple(map(id, self.records)))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Same)
            and all(a is b for a, b in zip(self.records, other.records, strict=False))
            and len(self.records) == len(other.records)
        )


@lru_cache(maxsize=16)
def _grown(same: _Same, seed: int) -> Surrogate | None:
    try:
        return Surrogate(same.records, seed)
    except ValueError:
        return None


def _shuffled(ground: Ground, seed: int) -> list[Knobs]:
    settings: list[Knobs] = [record.knobs for record in ground.records]
    random.Random(seed).shuffle(settings)
    return settings


STRATEGIES: dict[str, Strategy] = {
    "random": at_random,
    "tpe": tuned("tpe"),
    "genetic": lambda ground, others, seed: Genetic(ground.space, seed),
    "copied": copied,
    **(
        {
            "lfbo": tuned("lfbo"),
            "boosted": lambda ground, others, seed: Boosted(ground.space, seed),
            "warm": warm("tpe", own_family=True),
            "warm_lfbo": warm("lfbo", own_family=True),
            "warm_family": warm("tpe", own_family=False),
        }
        if is_installed()
        else {}
    ),
}
"""Those that grow trees need scikit-learn."""
