"""How far processes differ, how small a change could have been seen, and where more samples help."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from guard.statistics.arrays import Floats, finite

_MAD_TO_SD = 1.4826
MEDIAN_INFLATION = 1.2533
"""sqrt(pi/2): standard error of a median over that of a mean, for normal samples."""


class Variances(NamedTuple):
    """Of logarithms of times; `between` may be negative when iterations alone explain what is seen."""

    within: float
    between: float


def robust_spread(*arms: ArrayLike) -> Floats:
    """Standard deviation of process locations `[..., P]` within arms, by the median absolute deviation.

    One stray process in ten leaves it alone, so that a tight core with a heavy tail counts as tight.
    The factor P/(P-0.8) mends the bias of small samples (Croux and Rousseeuw 1992).
    """
    values = [finite(arm, at_least=2) for arm in arms]
    residuals = np.concatenate([v - np.median(v, axis=-1, keepdims=True) for v in values], axis=-1)
    processes = min(v.shape[-1] for v in values)
    deviation = np.median(np.abs(residuals), axis=-1)
    return np.asarray(_MAD_TO_SD * processes / (processes - 0.8) * deviation)


def minimal_detectable_effect(spread: float, processes: int, alpha: float, power: float = 0.95) -> float:
    """Smallest relative change that a one-sided test at `alpha` would find with `power`, P against P.

    `spread` is the standard deviation of log locations between processes of one arm (0.003 is 0.3 %), with
    what iterations add to it; normal core assumed. 0.01 means 1 %.
    """
    freedom = 2 * processes - 2
    quantiles = student.ppf(1 - alpha, freedom) + student.ppf(power, freedom)
    return float(np.expm1(quantiles * spread * np.sqrt(2 / processes)))


def process_spread(sigma_between: float, sigma_within: float, effective: float) -> float:
    """Standard deviation of a process's log median, from the spread between and within processes."""
    return float(np.hypot(sigma_between, MEDIAN_INFLATION * sigma_within / np.sqrt(effective)))


def variance_components(logs: ArrayLike) -> Variances:
    """Unbiased variances of `logs` `[processes, iterations]` (Kalibera and Jones 2013, corrected form)."""
    values = finite(logs, at_least=2)
    if values.ndim != 2 or values.shape[0] < 2:
        raise ValueError(f"needs [processes, iterations] with two of each, got shape {values.shape}")
    within = float(values.var(axis=1, ddof=1).mean())
    between = float(values.mean(axis=1).var(ddof=1)) - within / values.shape[1]
    return Variances(within, between)


def best_iterations(variances: Variances, process_cost: float, iteration_cost: float) -> int:
    """Iterations a process that buy most precision for the time, both costs in one unit (Kalibera-Jones).

    Not above a million: where processes do not differ at all, iterations are all that counts.
    """
    if min(process_cost, iteration_cost, variances.within) <= 0:
        raise ValueError("costs and the variance within processes must be positive")
    if variances.between <= 0:
        return 1_000_000
    ratio = process_cost / iteration_cost * variances.within / variances.between
    return int(np.clip(np.ceil(np.sqrt(ratio)), 1, 1_000_000))
