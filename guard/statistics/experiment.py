"""From raw samples to a `Comparison`: the one way from what was measured to what is said of it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from guard.comparison import Comparison, EndpointComparison, ModePair, Outcome, Rule
from guard.statistics.arrays import Floats
from guard.statistics.decision import (
    OUTCOMES,
    Decisions,
    arm_shifts,
    decide,
    reachable_looks,
    take_look,
)
from guard.statistics.location import log_location, timer_tick_ns
from guard.statistics.looks import Look, looks_for
from guard.statistics.modes import process_modes
from guard.statistics.spread import minimal_detectable_effect, robust_spread
from guard.statistics.steady import steady_part
from guard.verdict import Measurement, TimerName

_NS_PER_MS = 1e6
_MOST_DISCARDED = 0.1
_INTERVAL_ALPHA = 0.025
"""Off each end: intervals are shown at 95 %."""


class Arms(NamedTuple):
    """Log locations `[workloads, processes]` of both arms, processes in the order they ran."""

    workloads: tuple[str, ...]
    baseline: Floats
    candidate: Floats
    timer: TimerName
    kind: str


class _Endpoints(NamedTuple):
    names: tuple[str, ...]
    baseline: Floats
    candidate: Floats
    decisions: Decisions
    looks: tuple[Look, ...]


def compare_measurements(
    baseline: Sequence[Measurement],
    candidate: Sequence[Measurement],
    rule: Rule,
    discarded: int = 0,
    cut_warm_up: bool = False,
) -> Comparison:
    """Compare two arms by `rule`, from their raw times and nothing else; the same samples, the same answer.

    Every process of an arm must have timed every workload. `discarded` processes were thrown away for a
    named cause; above a tenth of all that is selection, and refused. With `cut_warm_up` locations leave out
    what `steady_part` cuts. `ValueError` says what does not fit, `CannotReject` that there are too few processes.
    """
    arms = arms_of(baseline, candidate, cut_warm_up)
    processes = min(arms.baseline.shape[1], arms.candidate.shape[1])
    if discarded > _MOST_DISCARDED * (2 * processes + discarded):
        raise ValueError(
            f"{discarded} processes were discarded of {2 * processes + discarded}: above a tenth"
        )
    workloads = _endpoints(arms.workloads, arms.baseline, arms.candidate, rule)
    stopped = int(workloads.decisions.stopped_at[0])
    overall = _endpoints(
        ("geomean",),
        arms.baseline.mean(axis=0, keepdims=True)[:, :stopped],
        arms.candidate.mean(axis=0, keepdims=True)[:, :stopped],
        rule,
    )
    return Comparison(
        rule=rule,
        timer=arms.timer,
        kind=arms.kind,
        looks_taken=tuple(look.processes for look in workloads.looks if look.processes <= stopped),
        workloads=tuple(_describe(workloads, i, rule) for i in range(len(arms.workloads))),
        overall=_describe(overall, 0, rule),
        discarded=discarded,
    )


def next_look(baseline: Sequence[Measurement], candidate: Sequence[Measurement], rule: Rule) -> int | None:
    """Processes an arm to run up to before looking again; None when all is decided or no look is left.

    With nothing measured yet it needs the workloads to be known: begin with `looks_for(rule, n)[0]`.
    """
    comparison = compare_measurements(baseline, candidate, rule)
    open_ends = (Outcome.UNSTABLE, Outcome.INCONCLUSIVE)
    if not any(w.outcome in open_ends for w in comparison.workloads):
        return None
    taken = comparison.looks_taken[-1]
    later = (look.processes for look in looks_for(rule, len(comparison.workloads)) if look.processes > taken)
    return next(later, None)


def arms_of(
    baseline: Sequence[Measurement], candidate: Sequence[Measurement], cut_warm_up: bool = False
) -> Arms:
    """Locations of every workload and process; `ValueError` when timers, kinds or workloads do not match."""
    both = [*baseline, *candidate]
    marks = {(m.timer, m.kind) for m in both}
    if len(marks) != 1:
        raise ValueError(f"times of different timers or kinds are never compared: {sorted(marks)}")
    timer, kind = marks.pop()
    workloads = tuple(dict.fromkeys(m.workload for m in baseline))
    tick_ns = timer_tick_ns(np.concatenate([m.times_ms for m in both]) * _NS_PER_MS)
    tick_ms = tick_ns / _NS_PER_MS if tick_ns else None
    return Arms(
        workloads,
        process_locations(baseline, workloads, tick_ms, cut_warm_up),
        process_locations(candidate, workloads, tick_ms, cut_warm_up),
        timer,
        kind,
    )


def process_locations(
    measurements: Sequence[Measurement],
    workloads: Sequence[str],
    tick_ms: float | None,
    cut_warm_up: bool = False,
) -> Floats:
    """Log location of every workload in every process, `[workloads, processes]`: the process is the sample.

    However many iterations a process timed, it is one draw of placement, clocks and library choices;
    calls of one workload and process are pooled.
    """
    times: dict[tuple[str, int], list[float]] = {}
    for m in measurements:
        kept = steady_part(m.times_ms, m.unsettled).times if cut_warm_up else m.times_ms
        times.setdefault((m.workload, m.process), []).extend(kept)
    processes = sorted({process for _, process in times})
    wanted = {(w, p) for w in workloads for p in processes}
    if set(times) != wanted:
        odd = sorted(wanted.symmetric_difference(times))[:3]
        raise ValueError(f"every process must time every workload of the baseline; not so for {odd}")
    return np.array([[float(log_location(times[w, p], tick_ms)) for p in processes] for w in workloads])


def _endpoints(names: tuple[str, ...], baseline: Floats, candidate: Floats, rule: Rule) -> _Endpoints:
    processes = min(baseline.shape[1], candidate.shape[1])
    looks = reachable_looks(rule, len(names), processes)
    return _Endpoints(names, baseline, candidate, decide(baseline[None], candidate[None], rule), looks)


def _describe(ends: _Endpoints, index: int, rule: Rule) -> EndpointComparison:
    processes = int(ends.decisions.decided_at[0, index])
    look = next(look for look in ends.looks if look.processes == processes)
    a, b = ends.baseline[:, :processes], ends.candidate[:, :processes]
    seen = take_look(a, b, look, rule)
    shifts = arm_shifts(a[index], b[index], rule)
    low, high, level = shifts.interval(_INTERVAL_ALPHA)
    spread = float(robust_spread(a[index], b[index]))
    outcome = OUTCOMES[int(ends.decisions.outcome[0, index])]
    return EndpointComparison(
        workload=ends.names[index],
        outcome=outcome,
        processes=processes,
        ratio=float(np.exp(shifts.centre)),
        low=float(np.exp(low)) if np.isfinite(low) else None,
        high=float(np.exp(high)) if np.isfinite(high) else None,
        level=level,
        p_slower=float(seen.p_slower[index]),
        p_faster=float(seen.p_faster[index]),
        # Holm's first step, the hardest: what could be seen however the other workloads turn out
        minimal_effect=minimal_detectable_effect(spread, processes, look.alpha / len(ends.names), rule.power),
        alpha_spent=look.spent,
        baseline_ms=float(np.exp(np.median(a[index]))),
        candidate_ms=float(np.exp(np.median(b[index]))),
        spread=spread,
        modes=_modes(a[index], b[index]) if outcome is not Outcome.EQUIVALENT else (),
    )


def _modes(baseline: Floats, candidate: Floats) -> tuple[ModePair, ...]:
    pairs = []
    for arm, locations in (("baseline", baseline), ("candidate", candidate)):
        modes = process_modes(locations)
        if modes is not None:
            pairs.append(
                ModePair(
                    arm=arm,
                    low_ms=float(np.exp(modes.low)),
                    high_ms=float(np.exp(modes.high)),
                    low_count=modes.low_count,
                    high_count=modes.high_count,
                )
            )
    return tuple(pairs)
