"""What is kept of two candidates measured against each other: one line a process, and what was said of them."""

from collections.abc import Iterator
from typing import Any, Literal, Self

from pydantic import Field

from guard.comparison import Comparison
from guard.statistics.order import Arm
from guard.terms import Terms
from guard.verdict import Environment, Measurement, Reason, TimerName
from tasks.value import Value


class Side(Value):
    """One of the two."""

    name: str
    digest: str


class Header(Value):
    """What must agree before samples are pooled, and what tells one shard from another."""

    version: Literal[1] = 1
    shard: str
    """Drawn at random; the same shard is never counted twice."""
    task: str
    task_digest: str
    marks: tuple[str, ...] = ()
    baseline: Side
    candidate: Side
    terms: Terms
    timer: TimerName
    clock_policy: str
    """`unlocked`, or `locked SM/memory` in MHz."""
    environment: Environment
    order_seed: int
    order: tuple[Arm, ...]


class Conditions(Value):
    """How the device was while one process was at work; all zero or empty where there is nothing to read."""

    sm_mhz_lowest: float = 0.0
    sm_mhz: float = 0.0
    """Median of the readings."""
    memory_mhz: float = 0.0
    temperature_c: float = 0.0
    power_w: float = 0.0
    throttle_reasons: tuple[str, ...] = ()
    other_processes: int = 0
    readings: int = 0


class ProcessRecord(Value):
    """One fresh process of one arm: its raw times, and under which conditions they were taken."""

    arm: Arm
    process: int
    """Within its arm; those of one number draw the same values."""
    place: int
    """In the order of both arms."""
    pad_bytes: int
    values_seed: int
    """Settles which of the secret values were drawn, and the order of the calls; common to both arms of a pair."""
    began: str
    """ISO 8601, UTC."""
    seconds: float
    isolation: str
    conditions: Conditions = Conditions()
    spoilt: str = ""
    """Why the times do not count, for a cause outside of both candidates."""
    reason: Reason | None = None
    """What the candidate was rejected for."""
    measurements: tuple[Measurement, ...] = ()

    @property
    def counts(self) -> bool:
        return not self.spoilt and self.reason is None


class Figure(Value):
    """What the times of one workload in one process come to."""

    arm: Arm
    process: int
    workload: str
    samples: int
    official_ms: float
    """The plain median."""
    location_ms: float
    """The mid-distribution median, which decides, of the times that are not dropped."""
    dropped: int = Field(default=0, exclude_if=lambda dropped: not dropped)
    """Of the samples, how many passed before the process was steady; the interval leaves them out, too."""
    low_ms: float
    high_ms: float
    level: float | None
    """Of the interval; None where the samples promise none."""
    effective_samples: float
    flags: tuple[str, ...] = ()


class Latency(Value):
    """Of one workload: the median over processes of each one's plain median.

    What activity records alone can give is not written where there are none.
    """

    workload: str
    baseline_ms: float
    candidate_ms: float
    baseline_busy_ms: float | None = Field(default=None, exclude_if=lambda busy: busy is None)
    """Of the same calls, how long at least one kernel, copy or memset ran."""
    candidate_busy_ms: float | None = Field(default=None, exclude_if=lambda busy: busy is None)
    baseline_flags: tuple[str, ...] = Field(default=(), exclude_if=lambda flags: not flags)
    """As `two_times.timing_flags` finds them."""
    candidate_flags: tuple[str, ...] = Field(default=(), exclude_if=lambda flags: not flags)

    def lines(self) -> Iterator[str]:
        """For a person: both times of each arm; nothing where the busy time is not known."""
        arms = (
            ("baseline", self.baseline_ms, self.baseline_busy_ms, self.baseline_flags),
            ("candidate", self.candidate_ms, self.candidate_busy_ms, self.candidate_flags),
        )
        for arm, official_ms, busy_ms, flags in arms:
            if busy_ms is not None:
                said = f"{self.workload}: {arm} {official_ms:.6g} ms, device busy for {busy_ms:.6g} ms"
                yield "; ".join([said, *flags])


class AtOneClock(Value):
    """Of one workload: candidate over baseline, each arm with its own dependence on the clock, at `clock_mhz`."""

    workload: str
    clock_mhz: float
    ratio: float


class Screen(Value):
    """All that two processes an arm may say."""

    clearly_slower: bool
    """Every candidate process slower than every baseline process by 5 %, as geometric means."""
    ratio: float
    processes: int


class Published(Value):
    """What is said, from the process lines before it and nothing else. Figures have ten significant digits."""

    processes: int
    """Process lines that stand before."""
    figures: tuple[Figure, ...]
    latencies: tuple[Latency, ...]
    comparison: Comparison | None = None
    screen: Screen | None = None
    at_one_clock: tuple[AtOneClock, ...] = Field(default=(), exclude_if=lambda opinions: not opinions)
    """A second opinion, where processes of one arm ran at clocks that differ."""
    rejected: tuple[tuple[Arm, Reason], ...] = ()
    flags: tuple[str, ...] = ()
    remark: str = ""
    """Why there is no comparison."""

    @property
    def is_good(self) -> bool:
        """Nobody was rejected, and what was asked is answered well: not dropped by a screen, passed by a gate."""
        if self.rejected:
            return False
        if self.screen is not None:
            return not self.screen.clearly_slower
        return self.comparison is not None and self.comparison.passes

    def lines(self) -> tuple[str, ...]:
        """For a person; never an outcome without P, what could be seen, and the alpha spent."""
        said = [f"{arm} rejected, {reason.code}: {reason.message}" for arm, reason in self.rejected]
        if self.comparison is not None:
            said += self.comparison.lines()
        if self.screen is not None:
            word = "clearly slower: drop it" if self.screen.clearly_slower else "not clearly slower: keep it"
            p = self.screen.processes
            said.append(f"screen: {word}, ratio {self.screen.ratio:.4f}, P {p} v {p}; it can say no more")
        said += [
            f"{o.workload}: at {o.clock_mhz:.0f} MHz in both arms the ratio would be {o.ratio:.4f}"
            for o in self.at_one_clock
        ]
        said += [line for latency in self.latencies for line in latency.lines()]
        said += [f"flag: {flag}" for flag in self.flags]
        return (*said, self.remark) if self.remark else tuple(said)


class Line(Value):
    """One line of the file after a header: exactly one of the two."""

    process: ProcessRecord | None = None
    published: Published | None = None

    @classmethod
    def of(cls, content: ProcessRecord | Published) -> Self:
        if isinstance(content, ProcessRecord):
            return cls(process=content)
        return cls(published=content)

    @property
    def content(self) -> dict[str, Any]:
        """As it is written: the one that is there, under its name."""
        if self.process is not None:
            return {"process": self.process.model_dump(mode="json")}
        return {"published": self.published and self.published.model_dump(mode="json")}


class Shard(Value):
    """A header and the process lines under it."""

    header: Header
    processes: tuple[ProcessRecord, ...] = ()

    def arm(self, arm: Arm) -> list[ProcessRecord]:
        """Those that count, in the order they ran."""
        return sorted((p for p in self.processes if p.arm == arm and p.counts), key=lambda p: p.process)
