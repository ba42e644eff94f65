"""What the self-test found, and whether it is good."""

from guard.selftest_trials import Trials
from guard.verdict import Environment, TimerName
from tasks.value import Value

SLOPE_LIMITS = {"cuda": 0.02, "cpu": 0.1}
SHORTEST = 0.1
QUIET_SPREAD = 0.005
"""Between processes; of a noisier kernel nothing is promised."""
QUIET_FOUND = 5
"""Quiet kernels of which a change of two percent and more must be found, on a GPU."""
_PROMISED = 0.02
_MOST_ALARMS = 1
_OF_COMPARISONS = 20


class TimerCheck(Value):
    """Spins of known lengths against what was measured of them."""

    timer: TimerName
    floor_ms: float
    """A kernel that does next to nothing: no honest time is shorter, and no shorter one would be believed."""
    slope: float
    """Measured over requested; 1 when the timer follows."""
    intercept_ms: float
    residual: float
    """Largest relative deviation from the line."""
    tick_ns: int | None = None
    clock_mhz: float = 0.0
    """By which cycles were turned into time; 0 where nanoseconds were asked for."""


class Noise(Value):
    """Of one kernel, over the processes of one comparison with itself. Relative standard deviations."""

    kernel: str
    median_ms: float
    within: float
    between: float
    lag_one: float
    effective: float
    """Smallest number of effective samples of a process."""


class SelfComparison(Value):
    """Ten processes of a kernel against ten more of the same."""

    alarms: tuple[str, ...]
    """Kernels that were called slower or faster than themselves."""
    outcomes: dict[str, str]
    flags: tuple[str, ...] = ()
    locations_ms: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {}
    """Of each kernel, a location a process, first arm and second: what the outcomes follow from."""
    noise: tuple[Noise, ...] = ()


class InjectedChange(Value):
    """Spins made longer by a known share."""

    change: float
    found: tuple[str, ...]
    missed: tuple[str, ...]
    wrongly_equivalent: tuple[str, ...]
    """Called EQUIVALENT although the change exceeds the margin."""
    spreads: dict[str, float] = {}
    """Between processes, relative."""
    ratios: dict[str, float] = {}
    locations_ms: dict[str, tuple[tuple[float, ...], tuple[float, ...]]] = {}

    @property
    def found_quiet(self) -> int:
        """How many of those found hardly differ between processes."""
        return sum(self.spreads.get(name, 1.0) < QUIET_SPREAD for name in self.found)


class Row(Value):
    """One part of a self-test, with the card that it ran on. Exactly one of the last four is there."""

    part: str
    environment: Environment
    seconds: float
    timer: TimerCheck | None = None
    comparison: SelfComparison | None = None
    injected: InjectedChange | None = None
    trials: Trials | None = None


class Selftest(Value):
    environment: Environment
    seconds: float
    timer: TimerCheck | None = None
    comparisons: tuple[SelfComparison, ...] = ()
    noise: tuple[Noise, ...] = ()
    """As the first comparison showed it."""
    injected: tuple[InjectedChange, ...] = ()
    trials: tuple[Trials, ...] = ()
    """On a GPU: company and a power cap, brought about on purpose."""
    not_run: tuple[str, ...] = ()
    """What the limit of seconds left no room for."""

    @classmethod
    def of(cls, rows: tuple[Row, ...], environment: Environment, not_run: tuple[str, ...]) -> "Selftest":
        """All parts together; of comparisons the first twenty that were kept, whichever they were."""
        comparisons = tuple(r.comparison for r in rows if r.comparison is not None)[:_OF_COMPARISONS]
        return cls(
            environment=rows[0].environment if rows else environment,
            seconds=sum(row.seconds for row in rows),
            timer=next((r.timer for r in rows if r.timer is not None), None),
            comparisons=comparisons,
            noise=comparisons[0].noise if comparisons else (),
            injected=tuple(r.injected for r in rows if r.injected is not None),
            trials=tuple(r.trials for r in rows if r.trials is not None),
            not_run=not_run,
        )

    @property
    def alarms(self) -> int:
        return sum(bool(c.alarms) for c in self.comparisons)

    @property
    def is_good(self) -> bool:
        """The timer follows, of up to twenty comparisons at most one cried wolf, and what was brought about was seen."""
        if self.timer is None or any(i.wrongly_equivalent for i in self.injected):
            return False
        if any(t.noticed < t.tried for t in self.trials):
            return False
        if self.environment.kind == "cuda" and any(
            i.found_quiet < QUIET_FOUND for i in self.injected if i.change >= _PROMISED
        ):
            return False
        follows = abs(self.timer.slope - 1) <= SLOPE_LIMITS[self.environment.kind]
        return follows and self.alarms <= _MOST_ALARMS

    def lines(self) -> tuple[str, ...]:
        said = [f"{self.environment.device}, {self.seconds:.0f} s"]
        if self.timer is not None:
            t = self.timer
            tick = f"tick {t.tick_ns} ns" if t.tick_ns else "no tick seen"
            said.append(
                f"timer {t.timer}: floor {t.floor_ms * 1e3:.2f} us, slope {t.slope:.4f}, intercept "
                f"{t.intercept_ms * 1e3:.2f} us, off the line by {t.residual:.2%} at most, {tick}"
            )
        said.append(f"A against A: {self.alarms} of {len(self.comparisons)} comparisons alarmed")
        said += [
            f"{n.kernel}: {n.median_ms:.6g} ms, within a process {n.within:.2%}, between processes {n.between:.2%}, "
            f"lag-1 {n.lag_one:+.2f}, at least {n.effective:.0f} effective samples"
            for n in self.noise
        ]
        said += [
            f"+{i.change:.0%} injected: found in {len(i.found)} of {len(i.found) + len(i.missed)} kernels, "
            f"{i.found_quiet} of them with a spread below {QUIET_SPREAD:.1%}"
            for i in self.injected
        ]
        said += [trial.line() for trial in self.trials]
        return (*said, *(f"not run within the seconds: {name}" for name in self.not_run))
