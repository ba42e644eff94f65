"""When samples may be looked at, and how much of alpha each look may spend."""

from typing import NamedTuple

from guard.comparison import CannotReject, Rule
from guard.statistics.null_tables import interval_rank, mann_whitney_at_most, signed_rank_at_most
from guard.statistics.rank_tests import smallest_p


class Look(NamedTuple):
    processes: int
    alpha: float
    """What each direction's family may spend at this look."""
    equivalence_alpha: float
    spent: float
    """Sum of `alpha` up to and with this look."""


def looks_for(rule: Rule, workloads: int) -> tuple[Look, ...]:
    """The looks that `rule` allows for so many workloads.

    A look at which Holm's first step could not reject is not taken, and what it might have spent goes to
    the next: that depends on the number of workloads alone, so it is settled before the first sample.
    `CannotReject` when no look is left.
    """
    looks: list[Look] = []
    share = spent = 0.0
    for processes, part in zip(rule.looks, rule.shares, strict=True):
        share += part
        alpha = share * rule.alpha
        if not _can_reject(processes, alpha / workloads, rule.paired):
            continue
        spent += alpha
        looks.append(Look(processes, alpha, share * rule.equivalence_alpha, spent))
        share = 0.0
    if share > 0:
        needed = processes_needed(workloads, share * rule.alpha, rule.paired)
        raise CannotReject(
            f"{workloads} workloads at alpha {share * rule.alpha:.2%} need {needed} processes an arm, "
            f"and the last look is at {rule.looks[-1]}"
        )
    return tuple(looks)


def processes_needed(workloads: int, alpha: float, paired: bool = False) -> int:
    """Fewest processes an arm with which the exact test can reject one of `workloads` under Holm."""
    processes = 2
    while not _can_reject(processes, alpha / workloads, paired):
        processes += 1
    return processes


def _can_reject(processes: int, alpha: float, paired: bool) -> bool:
    if smallest_p(processes, processes, paired) > alpha:
        return False
    at_most = signed_rank_at_most(processes) if paired else mann_whitney_at_most(processes, processes)
    return interval_rank(at_most, alpha) > 0
