"""Array types, and the one check that every statistic starts with."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]


def finite(values: ArrayLike, at_least: int = 1) -> Floats:
    """`values` as float64 `[..., n]`; `ValueError` when n is below `at_least` or a value is not finite."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] < at_least:
        raise ValueError(f"needs at least {at_least} samples, got shape {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("samples hold NaN or infinity")
    return array
