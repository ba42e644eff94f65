"""A series of sessions, one number each: is a new driver slower, and when did a step happen."""

from math import log1p
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from guard.comparison import CannotReject
from guard.statistics.arrays import Floats, finite
from guard.statistics.hodges_lehmann import shifts_between
from guard.statistics.rank_tests import mann_whitney_greater, smallest_p
from guard.statistics.spread import robust_spread

_FEWEST_FOR_CHANGE_POINTS = 24
_SMALLEST_SEGMENT = 4


class SessionGate(NamedTuple):
    """`ratio` is new over old by Hodges-Lehmann."""

    slower: bool
    p: float
    ratio: float


class ChangePoint(NamedTuple):
    """`session` is the first after the step, `ratio` the medians' ratio across it."""

    session: int
    p: float
    ratio: float


def new_sessions_slower(
    new: ArrayLike, old: ArrayLike, alpha: float = 0.01, least: float = 0.0075
) -> SessionGate:
    """The gate for a new driver: log session medians `new` `[k]` (3, say) against `old` `[n]` (8 or more).

    Slower when the exact Mann-Whitney p is at most `alpha` and the shift at least `least`. A session is a
    reboot or a fresh container. `CannotReject` when k and n are too few for `alpha`.
    """
    later, earlier = finite(new), finite(old)
    if smallest_p(later.size, earlier.size) > alpha:
        raise CannotReject(
            f"{later.size} new sessions against {earlier.size} old ones cannot reach {alpha:.1%}"
        )
    p = float(mann_whitney_greater(later, earlier))
    shift = float(shifts_between(later, earlier).centre)
    return SessionGate(p <= alpha and shift >= log1p(least), p, float(np.exp(shift)))


def look_back_z(new: float, old: ArrayLike) -> float:
    """Robust standard deviations that one new session lies above `old` `[n]`; above 5, ask for three."""
    earlier = finite(old, at_least=4)
    spread = float(robust_spread(earlier))
    distance = new - float(np.median(earlier))
    if spread == 0:
        return float(np.sign(distance) * np.inf) if distance else 0.0
    return distance / spread


def change_points(
    sessions: ArrayLike, alpha: float = 0.01, permutations: int = 999, seed: int = 0
) -> tuple[ChangePoint, ...]:
    """Steps in log session medians `[n]`, n >= 24, by divisive energy statistics, in order of time.

    Matteson and James 2014: split where the energy distance is largest, keep the split if no more than
    `alpha` of shuffled series do better, and go on in both halves. The shuffle, and not a t-test, gives p,
    because the split point was chosen to be the best one.
    """
    values = finite(np.ravel(np.asarray(sessions)), at_least=_FEWEST_FOR_CHANGE_POINTS)
    shuffler = np.random.default_rng(seed)
    found: list[ChangePoint] = []
    pending = [(0, values.size)]
    while pending:
        start, stop = pending.pop()
        part = values[start:stop]
        if part.size < 2 * _SMALLEST_SEGMENT:
            continue
        energy, cut = _best_split(part)
        better = sum(_best_split(shuffler.permutation(part))[0] >= energy for _ in range(permutations))
        p = (better + 1) / (permutations + 1)
        if p > alpha:
            continue
        step = float(np.median(part[cut:]) - np.median(part[:cut]))
        found.append(ChangePoint(start + cut, p, float(np.exp(step))))
        pending += [(start, start + cut), (start + cut, stop)]
    return tuple(sorted(found))


def _best_split(part: Floats) -> tuple[float, int]:
    """The largest scaled energy distance between a head and a tail, and where the tail begins."""
    n = part.size
    distance = np.abs(part[:, None] - part[None, :])
    block = np.zeros((n + 1, n + 1))
    block[1:, 1:] = distance.cumsum(axis=0).cumsum(axis=1)
    cuts = np.arange(_SMALLEST_SEGMENT, n - _SMALLEST_SEGMENT + 1)
    head, tail = cuts.astype(np.float64), (n - cuts).astype(np.float64)
    within_head, to_head = block[cuts, cuts], block[cuts, n]
    across = to_head - within_head
    within_tail = block[n, n] - 2 * to_head + within_head
    gap = 2 * across / (head * tail) - within_head / head**2 - within_tail / tail**2
    energies = gap * head * tail / n
    best = int(np.argmax(energies))
    return float(energies[best]), int(cuts[best])
