"""From process locations to outcomes: many problems at once, or one."""

from math import log1p
from typing import NamedTuple

import numpy as np

from guard.comparison import CannotReject, Outcome, Rule
from guard.statistics.arrays import Booleans, Floats, Integers
from guard.statistics.equivalence import inside_margin
from guard.statistics.hodges_lehmann import Shifts, shifts_between, shifts_of_pairs
from guard.statistics.looks import Look, looks_for
from guard.statistics.modes import has_a_stray, processes_are_bimodal
from guard.statistics.multiplicity import holm
from guard.statistics.rank_tests import mann_whitney_greater, wilcoxon_greater
from guard.statistics.spread import robust_spread

_UNDECIDED = -1
_SLOWER, _FASTER, _EQUIVALENT, _UNSTABLE, _INCONCLUSIVE = range(5)
OUTCOMES = (Outcome.SLOWER, Outcome.FASTER, Outcome.EQUIVALENT, Outcome.UNSTABLE, Outcome.INCONCLUSIVE)
"""Outcome of each code in `Decisions.outcome`."""


class LookResult(NamedTuple):
    """What one look shows; arrays `[problems, workloads]`."""

    outcome: Integers
    unstable: Booleans
    p_slower: Floats
    p_faster: Floats


class Decisions(NamedTuple):
    """Arrays `[problems, workloads]`; `stopped_at` `[problems]` is the processes an arm that were used."""

    outcome: Integers
    decided_at: Integers
    """Processes an arm at the look that decided, or at the last look taken."""
    stopped_at: Integers


def decide(baseline: Floats, candidate: Floats, rule: Rule) -> Decisions:
    """Decide log locations `[problems, workloads, processes]` in the order the processes ran.

    Looks are taken while a workload of the problem is undecided and processes are left; those beyond the
    last look taken are not used. `CannotReject` when they do not reach the first look.
    """
    looks = reachable_looks(rule, baseline.shape[1], min(baseline.shape[-1], candidate.shape[-1]))
    problems, workloads = baseline.shape[:2]
    outcome = np.full((problems, workloads), _UNDECIDED)
    unstable = np.zeros((problems, workloads), dtype=bool)
    decided_at = np.zeros((problems, workloads), dtype=np.int64)
    stopped_at = np.zeros(problems, dtype=np.int64)
    for look in looks:
        open_problems = np.flatnonzero((outcome == _UNDECIDED).any(axis=1))
        if open_problems.size == 0:
            break
        seen = take_look(baseline[open_problems], candidate[open_problems], look, rule)
        undecided = outcome[open_problems] == _UNDECIDED
        stopped_at[open_problems] = look.processes
        decided_at[open_problems] = np.where(undecided, look.processes, decided_at[open_problems])
        outcome[open_problems] = np.where(undecided, seen.outcome, outcome[open_problems])
        unstable[open_problems] = seen.unstable
    rest = outcome == _UNDECIDED
    outcome[rest] = np.where(unstable[rest], _UNSTABLE, _INCONCLUSIVE)
    return Decisions(outcome, decided_at, stopped_at)


def reachable_looks(rule: Rule, workloads: int, processes: int) -> tuple[Look, ...]:
    """The looks that so many processes an arm allow; `CannotReject` when they allow none."""
    looks = looks_for(rule, workloads)
    reachable = tuple(look for look in looks if look.processes <= processes)
    if not reachable:
        raise CannotReject(f"{processes} processes an arm; the first look is at {looks[0].processes}")
    return reachable


def take_look(baseline: Floats, candidate: Floats, look: Look, rule: Rule) -> LookResult:
    """One look at the first `look.processes` of each arm; -1 in `outcome` stands for undecided.

    A direction shown outranks equivalence (a change of 1 % can be both), and outranks a wide spread: the
    rank test holds its level whatever the spread.
    """
    a, b = baseline[..., : look.processes], candidate[..., : look.processes]
    shifts = arm_shifts(a, b, rule)
    p_slower, p_faster = (holm(p) for p in directed_p(a, b, rule))
    slower = (p_slower <= look.alpha) & (shifts.centre >= log1p(rule.tau))
    faster = (p_faster <= look.alpha) & (shifts.centre <= -log1p(rule.tau))
    unstable = arms_are_unstable(a, b, rule)
    doubtful = unstable | (has_a_stray(a) | has_a_stray(b)) if look.processes < rule.looks[-1] else unstable
    equivalent = inside_margin(shifts, rule.delta, look.equivalence_alpha) & ~doubtful
    outcome = np.select([slower, faster, equivalent], [_SLOWER, _FASTER, _EQUIVALENT], default=_UNDECIDED)
    return LookResult(np.asarray(outcome), unstable, p_slower, p_faster)


def arm_shifts(baseline: Floats, candidate: Floats, rule: Rule) -> Shifts:
    if rule.paired:
        return shifts_of_pairs(candidate - baseline)
    return shifts_between(candidate, baseline)


def directed_p(baseline: Floats, candidate: Floats, rule: Rule) -> tuple[Floats, Floats]:
    """One-sided p of "slower" and of "faster", before any adjustment."""
    if rule.paired:
        return wilcoxon_greater(candidate - baseline), wilcoxon_greater(baseline - candidate)
    return mann_whitney_greater(candidate, baseline), mann_whitney_greater(baseline, candidate)


def arms_are_unstable(baseline: Floats, candidate: Floats, rule: Rule) -> Booleans:
    """A spread between processes above the rule's, or an arm in two groups of processes."""
    wide = robust_spread(baseline, candidate) > rule.unstable_spread
    return np.asarray(wide | processes_are_bimodal(baseline) | processes_are_bimodal(candidate))


def clearly_slower(baseline: Floats, candidate: Floats, by: float = 0.05) -> bool:
    """For screening at P = 2 or so: each candidate process is slower than every baseline process by `by`.

    Log locations `[workloads, processes]`, compared as geometric means over the workloads. The only thing
    that a screen may say; it never shows that a candidate is fast.
    """
    means = candidate.mean(axis=0), baseline.mean(axis=0)
    return bool(means[0].min() - means[1].max() > log1p(by))
