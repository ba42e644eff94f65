"""Two modes where one location is claimed: between processes, and within one."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import fisher_exact

from guard.statistics.arrays import Booleans, Floats, Integers, finite

_GAP_OVER_MEDIAN = 5.0
_SMALLEST_GAP = 0.01
_SMALLEST_SIDE = 0.25
_ASHMAN = 2.5
_LIGHTEST = 0.08
_BIC_GAIN = 10.0


class Modes(NamedTuple):
    """Two modes, the lower first: where each lies and how many samples it holds."""

    low: float
    high: float
    low_count: int
    high_count: int


class _Mixture(NamedTuple):
    weights: Floats
    means: Floats
    sds: Floats
    log_likelihood: float


def processes_are_bimodal(locations: ArrayLike) -> Booleans:
    """Whether log locations `[..., P]` fall into two groups of processes; `[...]`.

    Two groups: a gap over 5 times the median gap and over 1 %, with a quarter of the processes, and at
    least two, on either side. Without the last two conditions 40 % of normal samples of 20 have such a gap.
    """
    values = finite(locations, at_least=4)
    return _is_gap(*_widest_gap(values, max(2, int(np.ceil(_SMALLEST_SIDE * values.shape[-1])))))


def has_a_stray(locations: ArrayLike) -> Booleans:
    """Whether even one process of `[..., P]` stands such a gap apart from the others; `[...]`.

    It may be the first seen of a second mode: reason enough to run more processes before calling
    anything equivalent, not enough to call it unstable.
    """
    return _is_gap(*_widest_gap(finite(locations, at_least=4), 1))


def process_modes(locations: ArrayLike) -> Modes | None:
    """The two modes of log locations `[P]` when they are bimodal, as medians of either side."""
    values = np.sort(finite(np.ravel(np.asarray(locations)), at_least=4))
    if not processes_are_bimodal(values):
        return None
    _, _, where = _widest_gap(values, max(2, int(np.ceil(_SMALLEST_SIDE * values.size))))
    cut = int(where) + 1
    return Modes(float(np.median(values[:cut])), float(np.median(values[cut:])), cut, values.size - cut)


def mode_mix_p(candidate: ArrayLike, baseline: ArrayLike) -> float:
    """p of Fisher's exact test that both arms fall into the pooled modes alike; 1 when there are none."""
    upper, lower = finite(candidate), finite(baseline)
    modes = process_modes(np.concatenate([upper, lower]))
    if modes is None:
        return 1.0
    cut = (modes.low + modes.high) / 2
    table = np.array([[(arm <= cut).sum(), (arm > cut).sum()] for arm in (upper, lower)])
    return float(fisher_exact(table).pvalue)


def iteration_modes(times: ArrayLike, tick: float = 0.0) -> Modes | None:
    """Two modes within the `times` `[n]` of one process, or None.

    A mixture of two normals must win 10 in BIC, each hold 8 %, and lie 2.5 of Ashman's D apart. A `tick`
    (same unit) is the least standard deviation a mode may have, so that teeth of a clock are no modes.
    """
    values = finite(np.ravel(np.asarray(times)), at_least=20)
    floor = max(tick, 1e-3 * float(values.std()), 1e-12)
    if values.std() <= floor:
        return None
    mixture = _fit_two_normals(values, floor)
    separation = np.sqrt(2) * abs(np.diff(mixture.means)[0]) / np.hypot(*mixture.sds)
    single = float(_log_density(values, np.mean(values, keepdims=True), np.std(values, keepdims=True)).sum())
    gain = 2 * (mixture.log_likelihood - single) - 3 * np.log(values.size)
    if separation <= _ASHMAN or mixture.weights.min() <= _LIGHTEST or gain <= _BIC_GAIN:
        return None
    low, high = np.argsort(mixture.means)
    count = round(float(mixture.weights[low]) * values.size)
    return Modes(float(mixture.means[low]), float(mixture.means[high]), count, values.size - count)


def _is_gap(widest: Floats, median_gap: Floats, _: Integers) -> Booleans:
    return np.asarray((widest > _GAP_OVER_MEDIAN * median_gap) & (widest > _SMALLEST_GAP))


def _widest_gap(values: Floats, side: int) -> tuple[Floats, Floats, Integers]:
    """Widest gap with at least `side` samples beyond it, the median gap, and the index below the gap."""
    gaps = np.diff(np.sort(values, axis=-1), axis=-1)
    inner = gaps[..., side - 1 : values.shape[-1] - side]
    where = np.argmax(inner, axis=-1)
    widest = np.take_along_axis(inner, where[..., None], -1)[..., 0]
    return widest, np.asarray(np.median(gaps, axis=-1)), np.asarray(where + side - 1)


def _fit_two_normals(values: Floats, floor: float, rounds: int = 100) -> _Mixture:
    """Expectation-maximisation from the quartiles; no standard deviation falls below `floor`."""
    means = np.quantile(values, [0.25, 0.75])
    sds = np.full(2, max(float(values.std()) / 2, floor))
    weights = np.full(2, 0.5)
    previous = -np.inf
    for _ in range(rounds):
        joint = np.log(weights) + _log_density(values[:, None], means, sds)
        total = np.logaddexp(joint[:, 0], joint[:, 1])
        share = np.exp(joint - total[:, None])
        mass = np.maximum(share.sum(axis=0), 1e-9)
        weights = mass / mass.sum()
        means = (share * values[:, None]).sum(axis=0) / mass
        sds = np.maximum(np.sqrt((share * (values[:, None] - means) ** 2).sum(axis=0) / mass), floor)
        if total.sum() - previous < 1e-6 * values.size:
            break
        previous = float(total.sum())
    return _Mixture(weights, means, sds, float(total.sum()))


def _log_density(values: Floats, mean: Floats, sd: Floats) -> Floats:
    return np.asarray(-0.5 * ((values - mean) / sd) ** 2 - np.log(sd) - 0.5 * np.log(2 * np.pi))
