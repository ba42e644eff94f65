"""The order in which fresh processes of the two arms run. There is no way to ask for one after the other."""

from random import Random
from typing import Literal

Arm = Literal["A", "B"]
"""A is the baseline, B the candidate."""

_BLOCKS: tuple[tuple[Arm, ...], ...] = (("A", "B", "B", "A"), ("B", "A", "A", "B"))


def interleaved_order(processes: int, seed: int) -> tuple[Arm, ...]:
    """2 * `processes` arms in blocks of four, ABBA or BAAB by a seeded coin; an odd one ends with a pair.

    Within each block a linear drift falls on both arms alike, and the coin keeps what recurs from
    falling in step with them.
    """
    if processes < 1:
        raise ValueError(f"needs at least one process an arm, got {processes}")
    coin = Random(seed)
    order: list[Arm] = []
    for _ in range(processes // 2):
        order.extend(coin.choice(_BLOCKS))
    if processes % 2:
        order.extend(coin.choice(_BLOCKS)[:2])
    return tuple(order)
