"""Many workloads at once: Holm where an error costs trust, Benjamini-Hochberg where a person looks on."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import false_discovery_control

from guard.statistics.arrays import Floats, finite


def holm(p_values: ArrayLike) -> Floats:
    """Holm-adjusted p `[..., workloads]`: rejecting those <= alpha keeps the family error at alpha.

    Holm 1979. Each adjusted value is never less than that of a smaller p.
    """
    p = finite(p_values)
    order = np.argsort(p, axis=-1)
    weights = np.arange(p.shape[-1], 0, -1)
    stepped = np.maximum.accumulate(np.take_along_axis(p, order, -1) * weights, axis=-1)
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, np.minimum(stepped, 1.0), -1)
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """Adjusted p `[..., workloads]` for dashboards: of those <= q, a share q is expected to be false."""
    return np.asarray(false_discovery_control(finite(p_values), axis=-1, method="bh"))
