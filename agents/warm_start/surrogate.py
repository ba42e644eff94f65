"""How far behind the best of its shape a setting is, learned from settings of other shapes."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.templates.base import Knobs
from agents.warm_start.features import Axes, Features, features
from agents.warm_start.record import Record, Shape

Floats = npt.NDArray[np.float64]

_TREES = 100
_FEWEST = 8
"""Settings of a shape below which its best says nothing."""
_FAILED = math.log(4.0)
"""What did not work counts as four times the best."""


def is_installed() -> bool:
    from importlib.util import find_spec

    return find_spec("sklearn") is not None


class Surrogate:
    """A forest of randomised trees over knobs, sizes and what follows from them. The same for the same seed."""

    def __init__(self, records: Iterable[Record], seed: int) -> None:
        """Raises `ValueError` when there is nothing to learn from."""
        from sklearn.ensemble import ExtraTreesRegressor

        shapes = {
            shape: some
            for shape, some in by_shape(records).items()
            if sum(r.ms is not None for r in some) >= _FEWEST
        }
        if not shapes:
            raise ValueError("no shape has settings enough")
        described = [features(r.family, r.axes, r.knobs) for some in shapes.values() for r in some]
        self._columns = sorted({name for each in described for name in each})
        behind = np.concatenate([_behind(some) for some in shapes.values()])
        # a shape with many settings does not outweigh those with few
        weights = np.concatenate([np.full(len(some), 1 / len(some)) for some in shapes.values()])
        self._forest: Any = ExtraTreesRegressor(_TREES, min_samples_leaf=2, random_state=seed)
        self._forest.fit(self._table(described), behind, sample_weight=weights * len(weights))

    def behind(self, family: str, axes: Axes, settings: Sequence[Knobs]) -> Floats:
        """Of each setting on a shape: log(time / the best time), as predicted."""
        found = self._forest.predict(self._table([features(family, axes, knobs) for knobs in settings]))
        return np.asarray(found, dtype=np.float64)

    def _table(self, described: Sequence[Features]) -> Floats:
        return np.array([[each.get(name, math.nan) for name in self._columns] for each in described])


def by_shape(records: Iterable[Record]) -> dict[Shape, list[Record]]:
    found: dict[Shape, list[Record]] = {}
    for record in records:
        found.setdefault(record.shape, []).append(record)
    return found


def _behind(some: Sequence[Record]) -> Floats:
    best = min(r.ms for r in some if r.ms is not None)
    return np.array([_FAILED if r.ms is None else math.log(r.ms / best) for r in some])
