"""Exact one-sided rank tests: two independent arms, or pairs declared before the run."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from guard.statistics.arrays import Booleans, Floats, finite
from guard.statistics.null_tables import (
    mann_whitney_at_most,
    signed_rank_at_most,
    tied_rank_sum_at_least,
    tied_signed_rank_at_least,
)


def mann_whitney_greater(candidate: ArrayLike, baseline: ArrayLike) -> Floats:
    """p that `candidate` `[..., m]` lies above `baseline` `[..., n]` by chance alone; exact, ties included.

    Mann and Whitney 1947. Swap the arguments to ask whether it lies below.
    """
    upper, lower = finite(candidate), finite(baseline)
    m, n = upper.shape[-1], lower.shape[-1]
    wins = np.sum(upper[..., :, None] > lower[..., None, :], axis=(-1, -2))
    # P(U >= u) = P(U <= mn - u), the null distribution being symmetric
    p = np.array(mann_whitney_at_most(m, n)[m * n - wins])
    pooled = np.concatenate([upper, lower], axis=-1)
    tied = _has_ties(pooled)
    for row in np.argwhere(tied):
        at = tuple(row)
        p[at] = _tied_mann_whitney(pooled[at], m)
    return np.asarray(p)


def wilcoxon_greater(differences: ArrayLike) -> Floats:
    """p that paired `differences` `[..., n]` lie above zero by chance alone; exact, ties included.

    Zeros are left out, as Wilcoxon did; all zeros give p = 1.
    """
    values = finite(differences)
    n = values.shape[-1]
    size = np.abs(values)
    ranks = np.asarray(rankdata(size, axis=-1))
    total = np.rint(np.sum(ranks * (values > 0), axis=-1)).astype(np.int64)
    p = np.array(signed_rank_at_most(n)[n * (n + 1) // 2 - total])
    for row in np.argwhere(_has_ties(size) | (values == 0).any(axis=-1)):
        at = tuple(row)
        p[at] = _tied_wilcoxon(values[at])
    return np.asarray(p)


def smallest_p(m: int, n: int, paired: bool = False) -> float:
    """The least p that the test can return with m and n processes: one arrangement of all."""
    return float(signed_rank_at_most(min(m, n))[0] if paired else mann_whitney_at_most(m, n)[0])


def _has_ties(values: Floats) -> Booleans:
    ordered = np.sort(values, axis=-1)
    return np.asarray((ordered[..., 1:] == ordered[..., :-1]).any(axis=-1))


def _tied_mann_whitney(pooled: Floats, m: int) -> float:
    doubled = np.rint(2 * rankdata(pooled)).astype(int)
    return float(tied_rank_sum_at_least(tuple(sorted(doubled.tolist())), m)[doubled[:m].sum()])


def _tied_wilcoxon(values: Floats) -> float:
    kept = values[values != 0]
    if kept.size == 0:
        return 1.0
    doubled = np.rint(2 * rankdata(np.abs(kept))).astype(int)
    return float(tied_signed_rank_at_least(tuple(sorted(doubled.tolist())))[doubled[kept > 0].sum()])
