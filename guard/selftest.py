"""The guard measured by itself on this machine: does the timer follow, how much noise is there, does A equal A?"""

import statistics
import time
from collections.abc import Callable
from typing import Any

from guard.comparison import GATE, Comparison, Outcome
from guard.duel_record import Published, Shard
from guard.environment import Watch
from guard.figures import deciding_times, paired_arms, publish, rounded
from guard.selftest_figures import locations_of, noise_of, timer_check
from guard.selftest_line import both_arms
from guard.selftest_result import InjectedChange, Row, SelfComparison, Selftest, TimerCheck
from guard.selftest_store import Store
from guard.selftest_task import DOSES, doses_candidate, doses_task, kinds_candidate, kinds_task
from guard.selftest_trials import TRIALS, Trials, company_trials, power_trials
from guard.session import Session
from tasks.candidate import Candidate
from tasks.task import Task

Progress = Callable[[str], None]
Found = dict[str, Any]
_INJECTED = (0.05, 0.02, 0.01)
_TIMER_PROCESSES = 1


def selftest(
    session: Session, max_seconds: float = 60.0, comparisons: int = 20, progress: Progress = lambda _: None,
    store: Store | None = None,
) -> Selftest:  # fmt: skip
    """What matters most first: the timer, one comparison of kernels with themselves, what is brought about on purpose,
    more comparisons. Parts that `store` holds are not run again; those that another process has in hand are left to it.
    """
    store = store or Store()
    run = _Selftest(session, max_seconds, progress, store)
    not_run: list[str] = []
    for part, work in run.parts(comparisons).items():
        with store.claim(part) as ours:
            row = run.row(part, work) if ours else None
            if row is not None:
                store.keep(row)
        if ours and row is None:
            not_run.append(part)
    with Watch(session.device) as watch:
        pass
    return rounded(Selftest.of(store.rows(), watch.environment("", {}), _shortly(not_run, comparisons)))


def _shortly(parts: list[str], comparisons: int) -> tuple[str, ...]:
    """Names of parts, comparisons counted."""
    missing = sum(part.startswith("comparison") for part in parts)
    said = [part for part in parts if not part.startswith("comparison")]
    return (*said, *([f"{missing} of {comparisons} comparisons"] if missing else []))


class _Selftest:
    def __init__(self, session: Session, max_seconds: float, progress: Progress, store: Store) -> None:
        self.session, self.device, self.progress, self.store = session, session.device, progress, store
        self.until = time.monotonic() + max_seconds
        self.isolation, self.libraries = "", dict[str, str]()

    def left_s(self) -> float:
        return self.until - time.monotonic()

    def parts(self, comparisons: int) -> dict[str, Callable[[], Found | None]]:
        """By name, what matters most first."""
        every: dict[str, Callable[[], Found | None]] = {
            "timer": self._timer, "comparison 1": self._against_itself
        }  # fmt: skip
        if self.device == "cuda":
            every["company"] = lambda: self._trials(company_trials)
            every["power cap"] = lambda: self._trials(power_trials)
        for change in _INJECTED:
            every[f"+{change:.0%} injected"] = lambda change=change: self._injected(change)  # type: ignore[misc]
        every |= {f"comparison {n}": self._against_itself for n in range(2, comparisons + 1)}
        return every

    def row(self, part: str, work: Callable[[], Found | None]) -> Row | None:
        """None when the seconds do not suffice, as far as parts of its kind have shown."""
        took = [row.seconds for row in self.store.rows() if _kind(row.part) == _kind(part)]
        if self.left_s() <= max(took, default=0.0):
            return None
        self.progress(part)
        began = time.monotonic()
        with Watch(self.device) as watch:
            found = work()
        if found is None:
            return None
        environment = watch.environment(self.isolation, self.libraries)
        return rounded(Row(part=part, environment=environment, seconds=time.monotonic() - began, **found))

    def _both(self, task: Task, a: Candidate, b: Candidate, processes: int = 10) -> Shard | None:
        shard = both_arms(task, a, b, self.session, self.left_s, processes)
        if shard is not None:
            self.isolation = shard.processes[0].isolation
            self.libraries = shard.header.environment.libraries
        return shard

    def _timer(self) -> Found | None:
        task, spins = doses_task(self.device), doses_candidate(self.device)
        shard = self._both(task, spins, spins, _TIMER_PROCESSES)
        if shard is None:
            return None
        measurements = [m for p in shard.processes if p.counts for m in deciding_times(p)]
        clock = statistics.median(p.conditions.sm_mhz for p in shard.processes)
        return {"timer": timer_check(measurements, DOSES[self.device], clock)}

    def _against_itself(self) -> Found | None:
        task, candidate = kinds_task(self.device), kinds_candidate(self.device)
        shard = self._both(task, candidate, candidate)
        if shard is None:
            return None
        published = publish([shard])
        outcomes = {w.workload: w.outcome for w in _compared(published).workloads}
        alarms = tuple(n for n, o in outcomes.items() if o in (Outcome.SLOWER, Outcome.FASTER))
        found = SelfComparison(
            alarms=alarms, outcomes={n: str(o) for n, o in outcomes.items()}, flags=published.flags,
            locations_ms=locations_of(published), noise=noise_of(paired_arms([shard])[0]),
        )  # fmt: skip
        return {"comparison": found}

    def _trials(self, kind: Callable[..., Trials]) -> Found | None:
        trials = kind(self.session, left_s=self.left_s)
        return {"trials": trials} if trials.tried == TRIALS else None

    def _injected(self, change: float) -> Found | None:
        timer = next((row.timer for row in self.store.rows() if row.timer is not None), None)
        longer = doses_candidate(self.device, 1 + change, _whole_kernel(timer, change, self.device))
        shard = self._both(doses_task(self.device), doses_candidate(self.device), longer)
        return None if shard is None else {"injected": _seen(shard, change)}


def _kind(part: str) -> str:
    return part.strip("+%0123456789 ")


def _seen(shard: Shard, change: float) -> InjectedChange:
    published = publish([shard])
    spins = [w for w in _compared(published).workloads if w.workload != "spin-0"]
    found = tuple(w.workload for w in spins if w.outcome is Outcome.SLOWER)
    beyond = change > GATE.delta
    return InjectedChange(
        change=change, found=found, missed=tuple(w.workload for w in spins if w.workload not in found),
        wrongly_equivalent=tuple(w.workload for w in spins if beyond and w.outcome is Outcome.EQUIVALENT),
        spreads={w.workload: w.spread for w in spins}, ratios={w.workload: w.ratio for w in spins},
        locations_ms=locations_of(published),
    )  # fmt: skip


def _compared(published: Published) -> Comparison:
    assert published.comparison is not None  # ten an arm are there, and no kernel of ours was rejected
    return published.comparison


def _whole_kernel(timer: TimerCheck | None, change: float, device: str) -> dict[int, int]:
    """What a dose must be lengthened by beyond its own share, so that the whole kernel takes `change` longer."""
    if timer is None or device != "cuda" or not timer.clock_mhz:
        return {}
    beside = int(max(0.0, timer.intercept_ms) * timer.clock_mhz * 1e3 * change)
    return {dose: beside for dose in DOSES["cuda"] if dose}
