"""Exact null distributions of the rank tests, counted in integers and kept by sample size."""

from functools import lru_cache
from math import comb

import numpy as np

from guard.statistics.arrays import Floats

_LARGEST_TABLE = 40_000
"""Most values of U that a table may hold (200 v 200): counting them takes a second or so."""


@lru_cache(maxsize=256)
def mann_whitney_counts(m: int, n: int) -> tuple[int, ...]:
    """In how many of the C(m+n, m) arrangements U is 0, 1, ... m*n.

    They are the coefficients of the Gaussian binomial: one factor (1 - q^(n+i)) / (1 - q^i) for each i.
    """
    if min(m, n) < 1 or m * n > _LARGEST_TABLE:
        raise ValueError(f"no table for samples of {m} and {n}")
    counts = [1] + [0] * (m * n)
    for i in range(1, m + 1):
        for u in range(m * n, n + i - 1, -1):
            counts[u] -= counts[u - n - i]
        for u in range(i, m * n + 1):
            counts[u] += counts[u - i]
    return tuple(counts)


@lru_cache(maxsize=256)
def mann_whitney_at_most(m: int, n: int) -> Floats:
    """P(U <= u) for u = 0 ... m*n when both samples come from one distribution without ties."""
    return _running_shares(mann_whitney_counts(m, n), comb(m + n, m))


@lru_cache(maxsize=256)
def signed_rank_counts(n: int) -> tuple[int, ...]:
    """In how many of the 2^n choices of signs the positive ranks add up to 0, 1, ... n(n+1)/2."""
    if n < 1 or n * (n + 1) // 2 > _LARGEST_TABLE:
        raise ValueError(f"no table for {n} pairs")
    counts = [1] + [0] * (n * (n + 1) // 2)
    for rank in range(1, n + 1):
        for total in range(len(counts) - 1, rank - 1, -1):
            counts[total] += counts[total - rank]
    return tuple(counts)


@lru_cache(maxsize=256)
def signed_rank_at_most(n: int) -> Floats:
    """P(W <= w) for w = 0 ... n(n+1)/2 when differences are symmetric about zero, without ties."""
    return _running_shares(signed_rank_counts(n), 2**n)


@lru_cache(maxsize=4096)
def tied_rank_sum_at_least(doubled_ranks: tuple[int, ...], m: int) -> Floats:
    """P(sum of m ranks drawn from `doubled_ranks` >= s) for s = 0 ... their total: the shift algorithm.

    Ranks are doubled so that midranks of ties are integers. Streitberg and Roehmel 1986.
    """
    total = sum(doubled_ranks)
    ways = np.zeros((m + 1, total + 1))
    ways[0, 0] = 1.0
    for rank in doubled_ranks:
        ways[1:, rank:] += ways[:-1, : total + 1 - rank].copy()
    return _frozen(np.cumsum(ways[m, ::-1])[::-1] / ways[m].sum())


@lru_cache(maxsize=4096)
def tied_signed_rank_at_least(doubled_ranks: tuple[int, ...]) -> Floats:
    """P(sum of the ranks with a positive sign >= s) for s = 0 ... their total, each sign a fair coin."""
    total = sum(doubled_ranks)
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in doubled_ranks:
        ways[rank:] += ways[: total + 1 - rank].copy()
    return _frozen(np.cumsum(ways[::-1])[::-1] / ways.sum())


def interval_rank(at_most: Floats, alpha: float) -> int:
    """The largest k with P(statistic <= k - 1) <= alpha, counted from 1; 0 when alpha is out of reach.

    The k-th smallest and the k-th largest of the sorted shifts are the ends of the exact interval, each of
    which misses with probability P(statistic <= k - 1).
    """
    return int(np.searchsorted(at_most, alpha, side="right"))


def _running_shares(counts: tuple[int, ...], total: int) -> Floats:
    shares, running = [], 0
    for count in counts:
        running += count
        shares.append(running / total)
    return _frozen(np.array(shares))


def _frozen(values: Floats) -> Floats:
    values.setflags(write=False)
    return values
