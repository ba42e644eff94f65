"""Whether one way needs fewer evaluations than another: sign flips of paired differences, and Holm over the plan's."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from guard.statistics.multiplicity import holm

Floats = npt.NDArray[np.float64]
_FLIPS = 20_000
_BOOTSTRAPS = 4_000


def p_of(better: Floats, worse: Floats, unit: str) -> float:
    """One-sided p of `[shapes, seeds]` evaluations: that `better` needs no fewer, on a logarithmic scale.

    Flips whole shapes, or each pair of searches. The smallest p with s shapes is about 2**-s.
    """
    found = np.log(better) - np.log(worse)
    differences = found.mean(axis=1) if unit == "shape" else found.ravel() / found.shape[1]
    random = np.random.default_rng(0)
    signs = random.integers(0, 2, (_FLIPS, differences.size), dtype=np.int8) * 2 - 1
    flipped = signs @ differences
    return float((1 + np.sum(flipped <= differences.sum() + 1e-12)) / (1 + _FLIPS))


def ratio_of(better: Floats, worse: Floats) -> tuple[float, float, float]:
    """Geometric mean over shapes of evaluations needed, as a share; with its 95 % band over shapes drawn anew."""
    logs = np.log(better).mean(axis=1) - np.log(worse).mean(axis=1)
    random = np.random.default_rng(0)
    drawn = logs[random.integers(0, logs.size, (_BOOTSTRAPS, logs.size))].mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(np.exp(logs.mean())), float(np.exp(low)), float(np.exp(high))


def adjusted(p_values: Sequence[float]) -> list[float]:
    return [float(p) for p in holm(list(p_values))] if p_values else []
