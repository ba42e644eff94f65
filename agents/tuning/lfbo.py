"""Likelihood-free Bayesian optimisation: a classifier that tells the good settings from the others.

Song et al. 2022 (arXiv 2206.13035): weighting the good ones by how much better they are makes the classifier's odds
the expected improvement. The classifier is a forest of randomised trees; the settings are few enough to ask for all.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from agents.tuner import Places

_RANDOM_FIRST = 6
"""Settings with a time before the classifier takes over."""
_GOOD = 1 / 3
_TREES = 24


class Lfbo:
    def __init__(self, sizes: Mapping[str, int], seed: int) -> None:
        self._seed, self._random = seed, np.random.default_rng(seed)
        self._known: list[tuple[Places, float]] = []
        self._bad: list[Places] = []

    def wanted(self, left: Collection[Places]) -> Places:
        some = list(left)
        self._random.shuffle(some)
        if len(self._known) < _RANDOM_FIRST:
            return some[0]
        chance = self._classifier().predict_proba(_numbers(some))[:, 1]
        return some[int(np.argmax(chance))]

    def given(self, places: Places) -> None:
        """It learns from times alone."""

    def told(self, places: Places, ms: float | None, rejected: bool) -> None:
        if rejected:
            self._bad.append(places)
        elif ms is not None:
            self._known.append((places, ms))

    def _classifier(self) -> Any:
        """Each good setting stands twice, as good with its gain for a weight, and, like all, as one of many."""
        from sklearn.ensemble import ExtraTreesClassifier

        times = np.log([ms for _, ms in self._known])
        bar = np.quantile(times, _GOOD)
        gains = np.maximum(bar - times, 0.0)
        good = gains > 0
        if not good.any():  # all the same
            good, gains = times <= bar, np.ones_like(times)
        places = [places for places, _ in self._known]
        rows = [*(p for p, is_good in zip(places, good, strict=True) if is_good), *places, *self._bad]
        labels = np.array([1] * int(good.sum()) + [0] * (len(places) + len(self._bad)))
        weights = np.concatenate([gains[good] / gains[good].mean(), np.ones(len(places) + len(self._bad))])
        forest = ExtraTreesClassifier(_TREES, min_samples_leaf=2, random_state=self._seed + len(self._known))
        return forest.fit(_numbers(rows), labels, sample_weight=weights)


def _numbers(places: Sequence[Places]) -> Any:
    return np.array(places, dtype=np.float64)
