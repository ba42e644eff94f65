"""How large a shift is: the Hodges-Lehmann estimate and its exact interval."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from guard.statistics.arrays import Floats, finite
from guard.statistics.null_tables import interval_rank, mann_whitney_at_most, signed_rank_at_most


class Shifts(NamedTuple):
    """Every shift that the samples suggest, sorted `[..., k]`, and the null distribution they stand under."""

    ordered: Floats
    at_most: Floats

    @property
    def centre(self) -> Floats:
        """The Hodges-Lehmann estimate `[...]`: the median of the suggested shifts."""
        k = self.ordered.shape[-1]
        return np.asarray((self.ordered[..., (k - 1) // 2] + self.ordered[..., k // 2]) / 2)

    def interval(self, alpha: float) -> tuple[Floats, Floats, float]:
        """Low and high end `[...]`, each missed with probability at most `alpha`, and the level achieved.

        When so few samples cannot reach `alpha` the interval is the whole line at level 1.
        """
        rank = interval_rank(self.at_most, alpha)
        if rank == 0:
            everything = np.full(self.ordered.shape[:-1], np.inf)
            return -everything, everything, 1.0
        low, high = self.ordered[..., rank - 1], self.ordered[..., -rank]
        return low, high, 1.0 - 2.0 * float(self.at_most[rank - 1])


def shifts_between(candidate: ArrayLike, baseline: ArrayLike) -> Shifts:
    """Independent arms `[..., m]` and `[..., n]`: all m*n differences candidate - baseline."""
    upper, lower = finite(candidate), finite(baseline)
    differences = upper[..., :, None] - lower[..., None, :]
    m, n = upper.shape[-1], lower.shape[-1]
    ordered = np.sort(differences.reshape(*differences.shape[:-2], m * n), axis=-1)
    return Shifts(ordered, mann_whitney_at_most(m, n))


def shifts_of_pairs(differences: ArrayLike) -> Shifts:
    """Pairs `[..., n]`: all n(n+1)/2 Walsh averages of their differences."""
    values = finite(differences)
    n = values.shape[-1]
    first, second = np.triu_indices(n)
    ordered = np.sort((values[..., first] + values[..., second]) / 2, axis=-1)
    return Shifts(ordered, signed_rank_at_most(n))
