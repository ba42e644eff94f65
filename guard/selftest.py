"""The guard measured by itself on this machine: does the timer follow, how much noise is there, does A equal A?"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from guard.comparison import GATE, Outcome
from guard.conditions import ConditionsWatch, open_nvml
from guard.duel import duel
from guard.duel_header import header_of
from guard.duel_record import Conditions, Header, ProcessRecord, Shard
from guard.environment import Watch
from guard.errors import GuardBroken
from guard.figures import paired_arms, rounded
from guard.judge import judge
from guard.protocol import SMOKE
from guard.selftest_result import SHORTEST, InjectedChange, Noise, SelfComparison, Selftest, TimerCheck
from guard.selftest_task import DOSES, doses_candidate, doses_task, kinds_candidate, kinds_task
from guard.selftest_trials import Trials, company_trials, power_trials
from guard.session import Session
from guard.terms import terms_for
from guard.verdict import Measurement, deciding
from tasks.candidate import Candidate
from tasks.task import Task

Progress = Callable[[str], None]
_INJECTED = (0.05, 0.02, 0.01)
_NS_PER_MS = 1e6


def selftest(
    session: Session, max_seconds: float = 60.0, comparisons: int = 20, progress: Progress = lambda _: None
) -> Selftest:
    """What matters most first: the timer, one comparison of kernels with themselves, changes, more comparisons."""
    return _Selftest(session, max_seconds, progress).run(comparisons)


class _Run(NamedTuple):
    """One comparison of ten processes an arm."""

    shard: Shard
    outcomes: dict[str, Outcome]
    flags: tuple[str, ...]


class _Selftest:
    def __init__(self, session: Session, max_seconds: float, progress: Progress) -> None:
        self.session, self.progress = session, progress
        self.began = time.monotonic()
        self.until = self.began + max_seconds
        self.found: dict[str, Any] = {}
        self.not_run: list[str] = []

    @property
    def left_s(self) -> float:
        return self.until - time.monotonic()

    def _say(self, what: str) -> None:
        if self.left_s > 0:
            self.progress(what)

    def run(self, comparisons: int) -> Selftest:
        with Watch(self.session.device) as watch:
            self._timer()
            first = self._against_itself(noise=True)
            runs = [first] if first else []
            trials = self._trials()
            injected = [longer for change in _INJECTED if (longer := self._injected(change))]
            while len(runs) < comparisons and (again := self._against_itself()):
                runs.append(again)
        if len(runs) < comparisons:
            self.not_run.append(f"{comparisons - len(runs)} of {comparisons} comparisons")
        return rounded(
            Selftest(
                environment=watch.environment("", {}), seconds=time.monotonic() - self.began, comparisons=tuple(runs),
                injected=tuple(injected), trials=trials, not_run=tuple(self.not_run), **self.found,
            )
        )  # fmt: skip

    def _timer(self) -> None:
        if self.left_s <= 0:
            self.not_run.append("timer")
            return
        self.progress("timer: spins of known lengths")
        measurements, conditions = _measure_doses(self.session)
        self.found["timer"] = timer_check(measurements, DOSES[self.session.device], conditions)

    def _against_itself(self, noise: bool = False) -> SelfComparison | None:
        task, candidate = kinds_task(self.session.device), kinds_candidate(self.session.device)
        self._say("kernels against themselves")
        run = self._duel(task, candidate, candidate)
        if run is None:
            if noise:
                self.not_run.append("kernels against themselves")
            return None
        if noise:
            self.found["noise"] = noise_of(paired_arms([run.shard])[0])
        alarms = tuple(n for n, o in run.outcomes.items() if o in (Outcome.SLOWER, Outcome.FASTER))
        return SelfComparison(
            alarms=alarms, outcomes={n: str(o) for n, o in run.outcomes.items()}, flags=run.flags
        )

    def _trials(self) -> tuple[Trials, ...]:
        if self.session.device != "cuda":
            return ()
        self._say("company and a power cap, on purpose")
        each = (company_trials, power_trials)
        return tuple(trials(self.session, left_s=lambda: self.left_s) for trials in each)

    def _injected(self, change: float) -> InjectedChange | None:
        device = self.session.device
        self._say(f"spins longer by {change:.0%}")
        timer = self.found.get("timer")
        longer = doses_candidate(device, 1 + change, _whole_kernel(timer, change, device))
        run = self._duel(doses_task(device), doses_candidate(device), longer)
        if run is None:
            self.not_run.append(f"+{change:.0%} injected")
            return None
        outcomes = {name: o for name, o in run.outcomes.items() if name != "spin-0"}
        found = tuple(name for name, o in outcomes.items() if o is Outcome.SLOWER)
        beyond = change > GATE.delta
        return InjectedChange(
            change=change,
            found=found,
            missed=tuple(name for name in outcomes if name not in found),
            wrongly_equivalent=tuple(n for n, o in outcomes.items() if beyond and o is Outcome.EQUIVALENT),
        )

    def _duel(self, task: Task, baseline: Candidate, candidate: Candidate) -> _Run | None:
        """Ten processes an arm; None when the seconds do not suffice."""
        if self.left_s <= 0:
            return None
        terms = terms_for("final", self.session.device)
        quick = terms.process.model_copy(update={"official_rounds": 1})
        header: Header = header_of(
            task, baseline, candidate, terms.model_copy(update={"process": quick}), self.session
        )
        records: list[ProcessRecord] = []
        published = duel(
            task, baseline, candidate, header, self.session, keep=records.append, max_seconds=self.left_s
        )
        if published.rejected:
            raise GuardBroken(f"the guard rejects its own kernel: {published.rejected[0][1].message}")
        if published.comparison is None:
            return None
        outcomes = {w.workload: w.outcome for w in published.comparison.workloads}
        return _Run(Shard(header=header, processes=tuple(records)), outcomes, published.flags)


def _measure_doses(session: Session) -> tuple[list[Measurement], Conditions]:
    task = doses_task(session.device)
    protocol = SMOKE.model_copy(update={"official_rounds": 1, "processes": 2, "measured_calls": 20})
    nvml, handle = open_nvml(session.device)
    with ConditionsWatch(nvml, handle, session.zygote.pid) as watch:
        verdict = judge(task, doses_candidate(session.device), protocol, session)
    if verdict.reason is not None:
        raise GuardBroken(f"the guard rejects its own spin: {verdict.reason.message}")
    found = [m for w in task.workloads for m in deciding(verdict.measurements, w.uuid)]
    return found, watch.conditions


def timer_check(
    measurements: Sequence[Measurement], doses: Sequence[int], conditions: Conditions
) -> TimerCheck:
    """The line through what was measured of each dose; cycles are turned into time by the clock read meanwhile.

    Theil-Sen, so that one disturbed dose bends nothing, through the shortest tenth of the times of each dose: what
    company adds to a spin is not the timer's doing. The dose of zero gives the floor and is no point of the line:
    a kernel that never waits is bounded by its launch.
    """
    import numpy as np
    from scipy.stats import theilslopes

    from guard.statistics.location import timer_tick_ns

    clock = conditions.sm_mhz
    per_unit_ms = 1 / (clock * 1e3) if clock else 1 / _NS_PER_MS
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
        clock_mhz=clock,
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


def _whole_kernel(timer: TimerCheck | None, change: float, device: str) -> dict[int, int]:
    """What a dose must be lengthened by beyond its own share, so that the whole kernel takes `change` longer."""
    if timer is None or device != "cuda" or not timer.clock_mhz:
        return {}
    beside = int(max(0.0, timer.intercept_ms) * timer.clock_mhz * 1e3 * change)
    return {dose: beside for dose in DOSES["cuda"] if dose}
