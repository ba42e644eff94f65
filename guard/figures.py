"""Every figure that is said of two candidates, from raw times alone: the same lines, the same bytes."""

import statistics
from collections.abc import Sequence
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from guard.comparison import CannotReject, Comparison
from guard.duel_record import AtOneClock, Figure, Header, Latency, ProcessRecord, Published, Screen, Shard
from guard.errors import GuardBroken
from guard.one_clock import at_one_clock, clocks_of, turns_round
from guard.statistics.decision import clearly_slower
from guard.statistics.experiment import arms_of, compare_measurements
from guard.statistics.intervals import median_interval
from guard.statistics.location import mid_distribution_median, official_median, timer_tick_ns
from guard.statistics.order import Arm
from guard.statistics.steady import steady_part
from guard.two_times import busy_of, timing_flags
from guard.verdict import Measurement
from tasks.value import Value

_DIGITS = 10
"""Of a published figure. Logarithms of two processors may differ in the last bit, and never in the tenth digit."""
_NS_PER_MS = 1e6
_WANDER = 0.01
_WANDERING = "CLOCKS_WANDER"
_FEWEST_FOR_AN_INTERVAL = 6
"""Of five, not even the smallest and the largest hold the median at 95 %."""
V = TypeVar("V", bound=Value)


def publish(shards: Sequence[Shard], remark: str = "") -> Published:
    """All figures of pooled shards. `remark` says why nothing was decided, where that was so."""
    header = shards[0].header
    count = sum(len(shard.processes) for shard in shards)
    arms = paired_arms(shards)
    tick_ms = _tick_ms([*arms[0], *arms[1]])
    figures = tuple(
        _figure(arm, m, tick_ms, header.terms.cut_warm_up)
        for arm, times in zip(("A", "B"), arms, strict=True)
        for m in times
    )
    comparison, screen, why = _decided(header, arms, _discarded(shards))
    flags = _flags(header, shards)
    opinions = _at_one_clock(header, arms, shards) if comparison is not None and _WANDERING in flags else ()
    if comparison is not None and turns_round(comparison, opinions):
        flags = (*flags, "CLOCK_DISAGREES")
    return rounded(
        Published(
            processes=count,
            figures=figures,
            latencies=_latencies(arms, shards),
            comparison=comparison,
            screen=screen,
            at_one_clock=opinions,
            rejected=tuple((p.arm, p.reason) for s in shards for p in s.processes if p.reason is not None),
            flags=flags,
            remark=remark or why,
        )
    )


def paired_arms(shards: Sequence[Shard]) -> tuple[tuple[Measurement, ...], tuple[Measurement, ...]]:
    """Deciding times of both arms, equally many processes of each shard, numbered through in the order they ran."""
    both: tuple[list[Measurement], list[Measurement]] = ([], [])
    first = 0
    for shard in shards:
        arms = shard.arm("A"), shard.arm("B")
        pairs = min(len(arm) for arm in arms)
        for kept, records in zip(both, arms, strict=True):
            for number, record in enumerate(records[:pairs]):
                kept.extend(m.model_copy(update={"process": first + number}) for m in deciding_times(record))
        first += pairs
    return tuple(both[0]), tuple(both[1])


def deciding_times(record: ProcessRecord) -> tuple[Measurement, ...]:
    """The official loop's times, else those of the guard's own calls: of all workloads the same kind."""
    official = tuple(m for m in record.measurements if m.kind == "official")
    return official or record.measurements


def rounded(value: V) -> V:
    """The same value with every figure at ten significant digits."""
    return type(value).model_validate(_rounded(value.model_dump(mode="json")))


def _rounded(content: Any) -> Any:
    if isinstance(content, float):
        return float(f"{content:.{_DIGITS}g}")
    if isinstance(content, dict):
        return {key: _rounded(item) for key, item in content.items()}
    return [_rounded(item) for item in content] if isinstance(content, list) else content


Arms = tuple[tuple[Measurement, ...], tuple[Measurement, ...]]


def _decided(header: Header, arms: Arms, discarded: int) -> tuple[Comparison | None, Screen | None, str]:
    if not arms[0]:
        return None, None, "no process of both arms was timed"
    rule = header.terms.rule
    if rule is None:
        return None, _screen(arms, header.terms.cut_warm_up), ""
    try:
        return compare_measurements(*arms, rule, discarded, header.terms.cut_warm_up), None, ""
    except CannotReject as refusal:
        return None, None, f"INCONCLUSIVE: {refusal}"
    except ValueError as refusal:
        raise GuardBroken(f"these times cannot be compared: {refusal}") from refusal


def _at_one_clock(header: Header, arms: Arms, shards: Sequence[Shard]) -> tuple[AtOneClock, ...]:
    if not header.terms.second_opinion:
        return ()
    return at_one_clock(arms_of(*arms, header.terms.cut_warm_up), clocks_of(shards))


def _screen(arms: Arms, cut_warm_up: bool) -> Screen:
    located = arms_of(*arms, cut_warm_up)
    ratio = float(np.exp(located.candidate.mean() - located.baseline.mean()))
    return Screen(
        clearly_slower=clearly_slower(located.baseline, located.candidate),
        ratio=ratio,
        processes=located.baseline.shape[1],
    )


def _tick_ms(measurements: Sequence[Measurement]) -> float | None:
    tick = timer_tick_ns([t * _NS_PER_MS for m in measurements for t in m.times_ms])
    return tick / _NS_PER_MS if tick else None


def _figure(arm: str, measurement: Measurement, tick_ms: float | None, cut_warm_up: bool) -> Figure:
    all_times = measurement.times_ms
    part = steady_part(all_times, measurement.unsettled) if cut_warm_up else None
    times = all_times if part is None else tuple(part.times.tolist())
    interval = median_interval(times, tick=tick_ms or 0.0) if len(times) >= _FEWEST_FOR_AN_INTERVAL else None
    restless = () if part is None or part.steady else ("NOT_STEADY",)
    return Figure.model_validate(
        {
            "arm": arm, "process": measurement.process, "workload": measurement.workload, "samples": len(all_times),
            "dropped": 0 if part is None else part.dropped,
            "official_ms": official_median(all_times), "location_ms": float(mid_distribution_median(times, tick_ms)),
            "low_ms": interval.low if interval else min(times), "high_ms": interval.high if interval else max(times),
            "level": interval.level if interval else None,
            "effective_samples": interval.effective_samples if interval else float(len(times)),
            "flags": (*(interval.flags if interval else ("FEW_SAMPLES",)), *restless),
        }
    )  # fmt: skip


def _latencies(arms: Arms, shards: Sequence[Shard]) -> tuple[Latency, ...]:
    def latency(times: Sequence[Measurement], workload: str) -> float:
        return statistics.median(official_median(m.times_ms) for m in times if m.workload == workload)

    def flags(arm: Arm, workload: str) -> tuple[str, ...]:
        return timing_flags([m for s in shards for p in s.arm(arm) for m in p.measurements], workload)

    return tuple(
        Latency(
            workload=w, baseline_ms=latency(arms[0], w), candidate_ms=latency(arms[1], w),
            baseline_busy_ms=busy_of(arms[0], w), candidate_busy_ms=busy_of(arms[1], w),
            baseline_flags=flags("A", w), candidate_flags=flags("B", w),
        )
        for w in dict.fromkeys(m.workload for m in arms[0])
    )  # fmt: skip


def _discarded(shards: Sequence[Shard]) -> int:
    return sum(bool(p.spoilt) for shard in shards for p in shard.processes)


def _flags(header: Header, shards: Sequence[Shard]) -> tuple[str, ...]:
    records = list(chain.from_iterable(shard.processes for shard in shards))
    reasons = {reason for p in records for reason in p.conditions.throttle_reasons}
    flags = {
        "UNLOCKED_CLOCKS": header.environment.kind == "cuda" and header.clock_policy == "unlocked",
        "POWER_CAPPED": "sw-power-cap" in reasons,
        _WANDERING: any(_wanders(records, arm) for arm in ("A", "B")),
        "CO_TENANT": any(p.conditions.other_processes for p in records),
        "DISCARDED": any(p.spoilt for p in records),
    }
    return tuple(name for name, holds in flags.items() if holds)


def _wanders(records: Sequence[ProcessRecord], arm: Arm | str) -> bool:
    """Processes of one arm whose clocks differ by more than 1 % from the arm's median."""
    clocks = [p.conditions.sm_mhz for p in records if p.arm == arm and p.conditions.sm_mhz > 0]
    if not clocks:
        return False
    centre = statistics.median(clocks)
    return any(abs(clock / centre - 1) > _WANDER for clock in clocks)
