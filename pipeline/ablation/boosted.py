"""Boosted trees in the manner of AutoTVM: a batch at a time, from a cost model of all that was measured.

Chen et al. 2018 (arXiv 1805.08166): the model ranks, the batch is its best, and a share is taken at random. Their
walk by simulated annealing looks for the model's best; here all settings are asked, which cannot find less.
"""

import random

import numpy as np

from agents.templates.base import Knob, Knobs, KnobSpace
from agents.tuner import Places

_BATCH = 8
"""Theirs is 64, for spaces of millions."""
_AT_RANDOM = 0.05


class Boosted:
    def __init__(self, space: KnobSpace, seed: int) -> None:
        self._space, self._random, self._seed = space, random.Random(seed), seed
        settings = [space.places_of(knobs) for knobs in space.settings()]
        self._random.shuffle(settings)
        self._left = dict.fromkeys(settings)
        self._known: list[tuple[Places, float]] = []
        self._batch: list[Places] = settings[:_BATCH]

    def ask(self) -> dict[str, Knob] | None:
        if not self._left:
            return None
        if not self._batch:
            self._batch = self._next_batch()
        places = self._batch.pop(0)
        del self._left[places]
        return self._space.at(places)

    def tell(self, knobs: Knobs, time_ms: float | None) -> None:
        if time_ms is not None:
            self._known.append((self._space.places_of(knobs), float(np.log(time_ms))))

    def tell_rejected(self, knobs: Knobs) -> None:
        worst = max((ms for _, ms in self._known), default=0.0)
        self._known.append((self._space.places_of(knobs), worst))

    def _next_batch(self) -> list[Places]:
        left = list(self._left)
        if len(self._known) < 2:
            return left[:_BATCH]
        from sklearn.ensemble import GradientBoostingRegressor

        model = GradientBoostingRegressor(n_estimators=60, max_depth=4, random_state=self._seed)
        model.fit(np.array([p for p, _ in self._known]), [ms for _, ms in self._known])
        order = [left[place] for place in np.argsort(model.predict(np.array(left)), kind="stable")]
        batch = order[:_BATCH]
        mixed = (self._random.choice(order) if self._random.random() < _AT_RANDOM else p for p in batch)
        return list(dict.fromkeys(mixed))
