"""What the self-test found, and whether it is good."""

from guard.selftest_trials import Trials
from guard.verdict import Environment, TimerName
from tasks.value import Value

SLOPE_LIMITS = {"cuda": 0.02, "cpu": 0.1}


SHORTEST = 0.1


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
    tick_ns: int | None
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
    alarms: tuple[str, ...]
    """Kernels that were called slower or faster than themselves."""
    outcomes: dict[str, str]
    flags: tuple[str, ...] = ()


class InjectedChange(Value):
    """Spins made longer by a known share."""

    change: float
    found: tuple[str, ...]
    missed: tuple[str, ...]
    wrongly_equivalent: tuple[str, ...]
    """Called EQUIVALENT although the change exceeds the margin."""


class Selftest(Value):
    environment: Environment
    seconds: float
    timer: TimerCheck | None = None
    comparisons: tuple[SelfComparison, ...] = ()
    noise: tuple[Noise, ...] = ()
    injected: tuple[InjectedChange, ...] = ()
    trials: tuple[Trials, ...] = ()
    """On a GPU: company and a power cap, brought about on purpose."""
    not_run: tuple[str, ...] = ()
    """What the limit of seconds left no room for."""

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
        follows = abs(self.timer.slope - 1) <= SLOPE_LIMITS[self.environment.kind]
        return follows and self.alarms <= 1

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
            f"+{i.change:.0%} injected: found in {len(i.found)} of {len(i.found) + len(i.missed)} kernels"
            for i in self.injected
        ]
        said += [trial.line() for trial in self.trials]
        return (*said, *(f"not run within the seconds: {name}" for name in self.not_run))
