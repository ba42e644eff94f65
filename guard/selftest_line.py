"""Ten fresh processes an arm, of kernels that are the guard's own: what a process needs before and after is hidden.

A duel lets no baseline wait beside a running candidate (decision 0095), for a candidate may harm what waits. Here both
arms are ours. So the next process starts while the current one makes its checked calls, and the last one ends meanwhile;
during the timed calls nothing starts or ends. The passes, timers and orders are those of every duel.
"""

import random
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Self

from guard.blame import CandidateFailed
from guard.conditions import ConditionsWatch, open_nvml, spoilt_by
from guard.duel_header import Contender, header_of
from guard.duel_record import Header, ProcessRecord, Shard
from guard.errors import GuardBroken
from guard.judge import drawn_pad, load, start_worker
from guard.measured_pass import measured_pass
from guard.official_pass import official_rounds
from guard.processes import WorkerProcess
from guard.session import Session
from guard.statistics.order import Arm
from guard.terms import terms_for
from guard.timed_pass import timed_pass
from tasks.candidate import Candidate
from tasks.task import Task

_MOST_SPOILT = 2


def both_arms(
    task: Task, baseline: Candidate, candidate: Candidate, session: Session, left_s: Callable[[], float],
    processes: int = 10,
) -> Shard | None:  # fmt: skip
    """All processes of both arms under the terms of a final; None when the seconds do not suffice for them.

    Of each process one official round in the first, and one fresh call a workload: what is asked here is how long
    kernels take, of which it is known that they are right.
    """
    terms = terms_for("final", session.device)
    calls = {"official_rounds": 1} if session.device == "cpu" else {"official_rounds": 1, "measured_calls": 1}
    process = terms.process.model_copy(update=calls)
    terms = terms.model_copy(update={"process": process, "processes": processes})
    header = header_of(task, baseline, candidate, terms, session)
    with _Line(task, (baseline, candidate), header, session) as line:
        return line.run(left_s)


@dataclass
class _Next:
    """A process that will be needed; `enter` waits until it is READY, once."""

    worker: WorkerProcess
    pad: int
    ready: bool = False

    def enter(self) -> None:
        if not self.ready:
            self.worker.__enter__()
            self.ready = True


class _Line:
    def __init__(
        self, task: Task, two: tuple[Candidate, Candidate], header: Header, session: Session
    ) -> None:
        self.header, self.session = header, session
        self.contenders: dict[Arm, Contender] = {
            "A": Contender("A", task, two[0], header.terms, session),
            "B": Contender("B", task, two[1], header.terms, session),
        }
        self.seeds = [secrets.randbits(48) for _ in range(header.terms.processes)]
        self.nvml, self.handle = open_nvml(session.device)
        self.ahead = session.device == "cuda"
        """On a CPU the checked calls are the timed ones, and the next process would stand in their way."""
        self.waiting: dict[int, _Next] = {}
        self.ending: threading.Thread | None = None

    def __enter__(self) -> Self:
        for contender in self.contenders.values():
            contender.trial.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for following in self.waiting.values():
            following.worker.close()
        self._ended()
        for contender in self.contenders.values():
            contender.stage.remove()

    def run(self, left_s: Callable[[], float]) -> Shard | None:
        records: list[ProcessRecord] = []
        for place in range(len(self.header.order)):
            while True:
                least = min((r.seconds for r in records), default=0.0)
                if left_s() <= least * (len(self.header.order) - place):
                    return None
                records.append(self._process(place))
                if not records[-1].spoilt:
                    break
                _refuse_many([r.spoilt for r in records if r.spoilt])
        return Shard(header=self.header, processes=tuple(records))

    def _process(self, place: int) -> ProcessRecord:
        arm = self.header.order[place]
        number = self.header.order[:place].count(arm)
        trial = self.contenders[arm].trial
        began, at = time.monotonic(), datetime.now(UTC).isoformat(timespec="milliseconds")
        trial.measurements, trial.deadline = [], time.monotonic() + trial.protocol.evaluation_limit_s
        watch = ConditionsWatch(self.nvml, self.handle, self.session.zygote.pid)
        worker, pad = self._take(place)
        try:
            self._work(self.contenders[arm], worker, place, number, watch)
        except CandidateFailed as failure:
            raise GuardBroken(f"the guard rejects its own kernel: {failure.reason.message}") from failure
        finally:
            self._end(worker)
        if trial.wrong is not None:
            raise GuardBroken(f"the guard rejects its own kernel: {trial.wrong.message}")
        return ProcessRecord(
            arm=arm, process=number, place=place, pad_bytes=pad, values_seed=self.seeds[number], began=at,
            seconds=round(time.monotonic() - began, 3), isolation=trial.isolation, conditions=watch.conditions,
            spoilt=spoilt_by(watch.conditions, None), measurements=tuple(trial.measurements),
        )  # fmt: skip

    def _work(
        self, contender: Contender, worker: WorkerProcess, place: int, number: int, watch: ConditionsWatch
    ) -> None:
        trial = contender.trial
        load(trial, contender.stage, worker, contender.entry)
        if number == 0:
            official_rounds(trial, worker)
        if self.ahead:
            self._begin(place + 1)
        measured_pass(trial, worker, number, random.Random(self.seeds[number]))
        self._quiet(place + 1)
        if trial.timer != "wall":
            watch.own = 2 + len(self.waiting)
            with watch:
                timed_pass(trial, worker, number)

    def _begin(self, place: int) -> None:
        """The process for that place sets out; nobody waits for it yet."""
        if place < len(self.header.order) and place not in self.waiting:
            contender = self.contenders[self.header.order[place]]
            pad = drawn_pad()
            self.waiting[place] = _Next(start_worker(contender.trial, contender.stage, pad), pad)

    def _quiet(self, place: int) -> None:
        """The next one is READY and stands still, the last one is gone: nothing stirs beside what is timed."""
        if place in self.waiting:
            self.waiting[place].enter()
        self._ended()

    def _take(self, place: int) -> tuple[WorkerProcess, int]:
        self._begin(place)
        self.waiting[place].enter()
        taken = self.waiting.pop(place)
        return taken.worker, taken.pad

    def _end(self, worker: WorkerProcess) -> None:
        self._ended()
        self.ending = threading.Thread(target=worker.close)
        self.ending.start()
        if not self.ahead:
            self._ended()

    def _ended(self) -> None:
        if self.ending is not None:
            self.ending.join()
            self.ending = None


def _refuse_many(spoilt: list[str]) -> None:
    if len(spoilt) > _MOST_SPOILT:
        raise GuardBroken(f"{len(spoilt)} processes were spoilt, above a tenth; the last: {spoilt[-1]}")
