"""Two candidates measured against each other: fresh processes of both in turn, every call checked, looks fixed before.

`duel` says what was found; what it was found from leaves line by line through `keep`, as it is measured.
"""

import random
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

from guard.blame import CandidateFailed
from guard.clock_lock import Clocks, clocks_of_policy, refuse_droop
from guard.conditions import ConditionsWatch, company, open_nvml, spoilt_by
from guard.duel_header import Contender, looks_of
from guard.duel_record import Header, ProcessRecord, Published, Shard
from guard.errors import GuardBroken
from guard.figures import publish
from guard.judge import drawn_pad, load, run_passes, start_worker
from guard.processes import WorkerProcess
from guard.session import Session
from guard.staging import path_fault
from guard.statistics.order import Arm
from guard.verdict import Reason
from tasks.candidate import Candidate
from tasks.task import Task

Keep = Callable[[ProcessRecord], None]
_MOST_DISCARDED = 0.1
_LOAD_S = 1.0


def duel(
    task: Task,
    baseline: Candidate,
    candidate: Candidate,
    header: Header,
    session: Session,
    *,
    keep: Keep = lambda _: None,
    done: Sequence[ProcessRecord] = (),
    max_seconds: float | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Published:
    """Run the processes that `header.order` still lacks, until a look decides, one is rejected, or time is up.

    `done` holds the lines of an interrupted run under the same header. A process spoilt from outside is run
    again; above a tenth of them `GuardBroken` is raised, as picking the good ones would be selection.
    """
    return _Duel(task, (baseline, candidate), header, session, keep, done, progress).run(max_seconds)


class _Duel:
    def __init__(
        self, task: Task, two: tuple[Candidate, Candidate], header: Header, session: Session, keep: Keep,
        done: Sequence[ProcessRecord], progress: Callable[[str], None],
    ) -> None:  # fmt: skip
        self.header, self.session, self.keep, self.progress = header, session, keep, progress
        self.records = list(done)
        self.contenders: dict[Arm, Contender] = {
            "A": Contender("A", task, two[0], header.terms, session),
            "B": Contender("B", task, two[1], header.terms, session),
        }
        self.looks = looks_of(header, len(task.workloads))
        self.clocks = clocks_of_policy(header.clock_policy)
        self.longest_s = max((p.seconds for p in done), default=0.0)
        self.waiting: dict[int, tuple[WorkerProcess, int]] = {}

    def run(self, max_seconds: float | None) -> Published:
        until = time.monotonic() + max_seconds if max_seconds is not None else None
        self.nvml, self.handle = open_nvml(self.session.device)
        try:
            self._prepare()
            return self._run(until)
        finally:
            for worker, _ in self.waiting.values():
                worker.close()
            for contender in self.contenders.values():
                contender.stage.remove()

    def _prepare(self) -> None:
        for contender in self.contenders.values():
            contender.trial.open()
        if self.nvml is not None and (
            others := company(self.nvml, self.handle, self.session.zygote.pid, own=1)
        ):
            raise GuardBroken(f"{others} other processes compute on the GPU; wait for them or end them")

        if self.clocks is not None:
            self._look_under_load(self.clocks)

    def _look_under_load(self, clocks: Clocks) -> None:
        """The reference at work is load enough, and no candidate has run yet."""
        reference = self.contenders["A"].trial.reference
        with ConditionsWatch(self.nvml, self.handle, self.session.zygote.pid, own=1) as watch:
            until = time.monotonic() + _LOAD_S
            while time.monotonic() < until:
                reference.ask("fresh", workload=0, index=-1, kind="fresh", dps=True, policy="tolerance")
        refuse_droop(watch.conditions, clocks)

    def _run(self, until: float | None) -> Published:
        while (place := self._next_place()) is not None:
            if until is not None and time.monotonic() + self.longest_s > until:
                return self._published("stopped at the limit of seconds; go on with the same file")
            self._keep(self._process(place))
            self._refuse_selection()
        return self._published()

    def _next_place(self) -> int | None:
        """The first place that no process filled; None when all is decided, or somebody was rejected."""
        if any(p.reason is not None for p in self.records):
            return None
        filled = {p.place for p in self.records if p.counts}
        place = next((n for n in range(len(self.header.order)) if n not in filled), None)
        if place is None or (place == len(filled) and self._is_decided(place)):
            return None
        return place

    def _is_decided(self, place: int) -> bool:
        """At a look that was fixed before the first process, and nowhere else."""
        if place % 2 or place // 2 not in self.looks:
            return False
        comparison = self._published().comparison
        if comparison is None:
            return False
        self.progress(comparison.overall.line(comparison.rule.delta))
        return not any(w.outcome in ("UNSTABLE", "INCONCLUSIVE") for w in comparison.workloads)

    def _published(self, remark: str = "") -> Published:
        shard = Shard(header=self.header, processes=tuple(self.records))
        published = publish([shard])
        undecided = published.comparison is None and published.screen is None
        return publish([shard], f"{remark}; {published.remark}") if remark and undecided else published

    def _keep(self, record: ProcessRecord) -> None:
        self.records.append(record)
        self.longest_s = max(self.longest_s, record.seconds)
        self.keep(record)

    def _refuse_selection(self) -> None:
        spoilt = [p.spoilt for p in self.records if p.spoilt]
        if len(spoilt) > max(1, _MOST_DISCARDED * len(self.header.order)):
            raise GuardBroken(f"{len(spoilt)} processes were spoilt, above a tenth; the last: {spoilt[-1]}")

    def _process(self, place: int) -> ProcessRecord:
        arm = self.header.order[place]
        contender = self.contenders[arm]
        number = self.header.order[:place].count(arm)
        seed = self._values_seed(arm, number)
        self.progress(f"process {place + 1} of {len(self.header.order)}: {arm}")
        began, at = time.monotonic(), datetime.now(UTC).isoformat(timespec="milliseconds")
        trial = contender.trial
        trial.measurements, trial.deadline = [], time.monotonic() + trial.protocol.evaluation_limit_s
        watch = ConditionsWatch(self.nvml, self.handle, self.session.zygote.pid)
        reason, pad = self._held_against(contender, place, number, seed, watch)
        return ProcessRecord(
            arm=arm, process=number, place=place, pad_bytes=pad, values_seed=seed, began=at,
            seconds=round(time.monotonic() - began, 3), isolation=trial.isolation, conditions=watch.conditions,
            spoilt="" if reason else spoilt_by(watch.conditions, self.clocks and self.clocks.sm), reason=reason,
            measurements=tuple(trial.measurements),
        )  # fmt: skip

    def _values_seed(self, arm: Arm, number: int) -> int:
        """That of the other arm's process of this number, where it ran: both draw the same values in one order."""
        other = (p.values_seed for p in self.records if p.process == number and p.counts and p.arm != arm)
        return next(other, None) or secrets.randbits(48)

    def _held_against(
        self, contender: Contender, place: int, number: int, seed: int, watch: ConditionsWatch
    ) -> tuple[Reason | None, int]:
        reason = path_fault(contender.candidate)
        pad = 0
        if reason is not None:
            return reason, pad
        trial = contender.trial
        try:
            entry = contender.entry
            with self._worker(contender, place) as (worker, pad):
                load(trial, contender.stage, worker, entry)
                self._start_next(place)
                watch.own = 2 + len(self.waiting)
                with watch:
                    run_passes(trial, worker, number, random.Random(seed))
        except CandidateFailed as failure:
            return failure.reason, pad
        return trial.wrong, pad

    @contextmanager
    def _worker(self, contender: Contender, place: int) -> Iterator[tuple[WorkerProcess, int]]:
        """The one that already waits, else a new one; READY either way, and ended with all it started."""
        if place in self.waiting:
            worker, pad = self.waiting.pop(place)
        else:
            worker, pad = self._start(contender)
            worker.__enter__()
        try:
            yield worker, pad
        finally:
            worker.close()
            contender.stage.lift()

    def _start(self, contender: Contender) -> tuple[WorkerProcess, int]:
        pad = drawn_pad()
        return start_worker(contender.trial, contender.stage, pad), pad

    def _start_next(self, place: int) -> None:
        """Have the next process READY before this one is timed, where it is the candidate that would wait.

        The baseline never waits beside a running candidate, which could slow it: see decision 0095.
        """
        following = self.header.order[place : place + 2]
        if following != ("A", "B") or place + 1 in self.waiting:
            return
        if any(p.place == place + 1 and p.counts for p in self.records):
            return
        worker, pad = self._start(self.contenders["B"])
        worker.__enter__()
        self.waiting[place + 1] = worker, pad
