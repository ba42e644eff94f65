"""What raw times of the guard's own kernels come to: a line through spins, and a table of noise."""

from collections.abc import Sequence

from guard.duel_record import Published
from guard.selftest_result import SHORTEST, Noise, TimerCheck
from guard.verdict import Measurement

_NS_PER_MS = 1e6
Locations = dict[str, tuple[tuple[float, ...], tuple[float, ...]]]


def timer_check(measurements: Sequence[Measurement], doses: Sequence[int], clock_mhz: float) -> TimerCheck:
    """The line through what was measured of each dose; cycles are turned into time by the clock read meanwhile.

    Theil-Sen, so that one disturbed dose bends nothing, through the shortest tenth of the times of each dose: what
    company adds to a spin is not the timer's doing. The dose of zero gives the floor and is no point of the line:
    a kernel that never waits is bounded by its launch. `clock_mhz` of 0: doses are nanoseconds.
    """
    import numpy as np
    from scipy.stats import theilslopes

    from guard.statistics.location import timer_tick_ns

    per_unit_ms = 1 / (clock_mhz * 1e3) if clock_mhz else 1 / _NS_PER_MS
    times = {
        dose: [t for m in measurements if m.workload == f"spin-{dose}" for t in m.times_ms] for dose in doses
    }
    spun = [dose for dose in doses if dose]
    asked = np.array(spun) * per_unit_ms
    seen = np.array([np.quantile(times[dose], SHORTEST) for dose in spun])
    slope, intercept, *_ = theilslopes(seen, asked)
    return TimerCheck(
        timer=measurements[0].timer,
        floor_ms=float(np.quantile(times[0], SHORTEST)),
        slope=float(slope),
        intercept_ms=float(intercept),
        residual=float(np.max(np.abs(seen / (intercept + slope * asked) - 1))),
        tick_ns=timer_tick_ns([t * _NS_PER_MS for m in measurements for t in m.times_ms]),
        clock_mhz=clock_mhz,
    )


def noise_of(measurements: Sequence[Measurement]) -> tuple[Noise, ...]:
    """The noise table: how much iterations, and how much processes, differ."""
    return tuple(
        _noise(name, [m.times_ms for m in measurements if m.workload == name])
        for name in dict.fromkeys(m.workload for m in measurements)
    )


def _noise(name: str, processes: Sequence[Sequence[float]]) -> Noise:
    import numpy as np

    from guard.statistics.intervals import autocorrelation, effective_samples
    from guard.statistics.location import log_location
    from guard.statistics.spread import robust_spread

    locations = np.array([float(log_location(times)) for times in processes])
    within = [float(robust_spread(np.log(times))) for times in processes]
    return Noise(
        kernel=name,
        median_ms=float(np.exp(np.median(locations))),
        within=float(np.median(within)),
        between=float(robust_spread(locations)),
        lag_one=float(np.median([autocorrelation(times)[1] for times in processes])),
        effective=min(effective_samples(times) for times in processes),
    )


def locations_of(published: Published) -> Locations:
    """Of each workload one location a process, in milliseconds, as the comparison takes them."""

    def arm(which: str, workload: str) -> tuple[float, ...]:
        return tuple(f.location_ms for f in published.figures if (f.arm, f.workload) == (which, workload))

    names = dict.fromkeys(f.workload for f in published.figures)
    return {name: (arm("A", name), arm("B", name)) for name in names}


def alarms_from(locations: Locations) -> tuple[str, ...]:
    """The kernels that a final would call slower or faster, from their locations alone."""
    from guard.comparison import FIXED, Outcome
    from guard.statistics.experiment import compare_measurements

    arms = [
        [
            Measurement(workload=name, process=n, timer="cupti", kind="official", times_ms=(ms,))
            for name, both in locations.items()
            for n, ms in enumerate(both[arm])
        ]
        for arm in (0, 1)
    ]
    comparison = compare_measurements(arms[0], arms[1], FIXED)
    return tuple(w.workload for w in comparison.workloads if w.outcome in (Outcome.SLOWER, Outcome.FASTER))
