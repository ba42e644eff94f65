"""What is done at each step, and what of it is kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import agents
import tasks
from guard.judge import judge
from guard.session import Session
from leaderboard.equivalence import Margins
from leaderboard.frozen.kernel import sentinel_names, sentinel_task
from leaderboard.holds import Holding, holds
from leaderboard.sentinels import sentinels_beside
from leaderboard.snapshot import Snapshot, take_snapshot
from leaderboard.snapshot_file import read_snapshot, rebuild, write_snapshot
from pipeline.evaluate import reference_of
from pipeline.freeze import submission_of
from pipeline.prepare import prepare_task
from pipeline.progress import Lines
from pipeline.protocols import protocol_for
from pipeline.recheck import recheck, the_task
from pipeline.regress import FINDING, regress
from pipeline.sentinels import sentinel_here
from pipeline.settings import Settings
from scripts.leaderboard_bars.delay import delayed, delayed_on_cpu
from submissions.write import write
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.task import Task

Row = dict[str, Any]
_CLOCK_MHZ = 1980.0
"""Of an H200's multiprocessors at work, where the snapshot did not measure it."""


@dataclass(frozen=True)
class Asked:
    """What stood on the command line."""

    names: tuple[str, ...]
    """Shipped tasks, or folders."""
    agent: str
    sentinels: tuple[str, ...]
    injected: str
    injection: float
    delayed: str
    dose: float
    repeats: int
    workloads: int
    processes: int | None
    """Of a sentinel's judgement; None: the final protocol's."""
    champion_processes: int | None
    snapshots: Path


@dataclass(frozen=True)
class Step:
    """One row of the record: `key` names it, `do` gives it."""

    key: tuple[str, str, int]
    """Step, task, number."""
    do: Callable[[], Row]


class Bench:
    """The device, held for all steps, and the snapshots taken so far."""

    def __init__(self, asked: Asked, settings: Settings, session: Session, rows: list[Row]) -> None:
        self.asked, self.settings, self.session, self.rows = asked, settings, session, rows
        self.progress = Lines()

    def steps(self, chosen: tuple[str, ...]) -> Iterator[Step]:
        """In the order in which they are worth most, should time run out."""
        asked = self.asked
        for kind in chosen:
            for number in range(asked.repeats if kind == "repeats" else 1):
                for name in self._names(kind):
                    yield Step((kind, name, number), self._one(kind, name))

    def _names(self, kind: str) -> tuple[str, ...]:
        if kind in ("sentinels", "same", "injected"):
            return self.asked.sentinels or sentinel_names()
        return self.asked.names

    def _one(self, kind: str, name: str) -> Callable[[], Row]:
        do: dict[str, Callable[[str], Row]] = {
            "sentinels": self.take_sentinel, "champions": self.take_champion, "same": self.same,
            "injected": self.inject, "repeats": self.repeat, "delayed": self.delay,
        }  # fmt: skip
        return lambda: do[kind](name)

    def take_sentinel(self, name: str) -> Row:
        task = sentinel_task(name)
        if task is None:
            raise TaskError("is no sentinel", file=name, mend=f"there are {', '.join(sentinel_names())}")
        task = prepare_task(self.settings, task, self.session.device, self.progress).judged
        return self._taken(task, self._sentinel(name, task, 0), {}, self.asked.processes)

    def take_champion(self, name: str) -> Row:
        asked = tasks.load(name, data_roots=self.settings.data)
        prepared = prepare_task(self.settings, asked, self.session.device, self.progress)
        candidate = agents.create(self.asked.agent, prepared.asked, 0, target="LOCAL").ask()
        if candidate is None:
            raise TaskError(
                f"the agent {self.asked.agent} proposes nothing", file=name, mend="--agent another"
            )
        return self._taken(prepared.judged, candidate, self._sentinels(), self.asked.champion_processes)

    def _taken(
        self, task: Task, candidate: Candidate, sentinels: dict[str, Snapshot], processes: int | None
    ) -> Row:
        protocol = protocol_for("final", self.session.device, self.settings, task)
        if processes is not None:
            protocol = protocol.model_copy(update={"processes": processes})
        submission = submission_of(task, candidate, protocol, self.session, self.progress.note)
        environment = submission.verdict.environment
        remark = ""
        try:
            medians = sentinels_beside(environment, sentinels.values())
        except TaskError as error:
            medians, remark = {}, f"without sentinels: {error}"
        snapshot = take_snapshot(submission, sentinels=medians)
        write(submission, self.asked.snapshots / "submissions")
        return {
            "file": write_snapshot(snapshot, self.asked.snapshots).name, "strategy": candidate.strategy,
            "workloads": [
                {"uuid": t.uuid, "processes": len(t.medians_ms), "timer": t.timer} for t in snapshot.times
            ],
            "readiness": snapshot.readiness, "remark": remark, "environment": environment.model_dump(mode="json"),
        }  # fmt: skip

    def same(self, name: str) -> Row:
        (found,) = regress(
            [self._snapshot("sentinels", name)], self.settings, self.progress,
            root=self.asked.snapshots / "sessions", session=self.session,
        )  # fmt: skip
        if found.holding is None:
            raise TaskError(
                "; ".join(map(str, found.differences)), file=name, mend="use the baseline's device"
            )
        return {**_said(found.holding), "environment": found.environment.model_dump(mode="json")}

    def inject(self, name: str) -> Row:
        snapshot = self._snapshot("sentinels", name)
        share = self.asked.injection / 100 if name == self.asked.injected else 0.0
        task = self._task(snapshot)
        candidate = self._sentinel(name, task, _cycles(snapshot.times[0].medians_ms, share, snapshot))
        return {**self._compared(snapshot, task, candidate, FINDING), "injected": share}

    def repeat(self, name: str) -> Row:
        snapshot = self._snapshot("champions", name)
        again = recheck(
            snapshot, self.settings, self.progress, session=self.session, only=self._chosen(snapshot),
            sentinels=tuple(self._sentinels().values()),
        )  # fmt: skip
        return {
            **_said(again.holding),
            "environment": again.verdict.environment.model_dump(mode="json"),
        }

    def delay(self, name: str) -> Row:
        snapshot = self._snapshot("champions", name)
        share = self.asked.dose / 100 if name == self.asked.delayed else 0.0
        task = self._task(snapshot)
        chosen = self._chosen(snapshot)
        task = task.model_copy(update={"workloads": tuple(w for w in task.workloads if w.uuid in chosen)})
        candidate = rebuild(snapshot)
        if share:
            candidate = self._delayed(snapshot, task, candidate, share)
        return {**self._compared(snapshot, task, candidate, Margins()), "injected": share}

    def _delayed(self, snapshot: Snapshot, task: Task, candidate: Candidate, share: float) -> Candidate:
        times = {t.uuid: t.medians_ms for t in snapshot.times}
        first = next(iter(task.definition.inputs))
        shapes = {w.uuid: task.definition.input_shapes(w.axes)[first] or () for w in task.workloads}
        if self.session.device == "cpu":
            waits = {shapes[w.uuid]: int(1e6 * _middle(times[w.uuid]) * (1 + share)) for w in task.workloads}
            return delayed_on_cpu(candidate, waits)
        waits = {shapes[w.uuid]: _cycles(times[w.uuid], share, snapshot) for w in task.workloads}
        return delayed(candidate, waits)

    def _compared(self, snapshot: Snapshot, task: Task, candidate: Candidate, rule: Margins) -> Row:
        """As `recheck` compares, of a candidate that may be another than the snapshot's."""
        verdict = judge(task, candidate, snapshot.protocol, self.session, self.progress.note)
        if verdict.reason is not None:
            raise TaskError(f"was rejected: {verdict.reason.message}", file=snapshot.name)
        verdict = verdict.model_copy(update={"candidate_digest": snapshot.candidate.digest})
        found = holds(snapshot, verdict, snapshot.protocol, part_of=snapshot.task.digest, rule=rule)
        return {**_said(found), "environment": verdict.environment.model_dump(mode="json")}

    def _sentinel(self, name: str, task: Task, cycles: int) -> Candidate:
        if self.session.device == "cuda":
            return sentinel_here(name, cycles)[0]
        candidate = reference_of(task)  # a cubin runs on a GPU alone
        if not cycles:
            return candidate
        axes = task.workloads[0].axes
        shape = next(iter(task.definition.input_shapes(axes).values())) or ()
        return delayed_on_cpu(candidate, {shape: int(cycles / _CLOCK_MHZ * 1e3)})

    def _task(self, snapshot: Snapshot) -> Task:
        return the_task(snapshot, self.settings, self.session.device, self.progress)

    def _chosen(self, snapshot: Snapshot) -> frozenset[str]:
        """Some workloads, evenly spread over those that take longest: what is tiny is lost in the timer's tick."""
        longest = sorted(snapshot.times, key=lambda t: -_middle(t.medians_ms))
        half = longest[: max(self.asked.workloads, (len(longest) + 1) // 2)]
        step = max(1, len(half) // self.asked.workloads)
        return frozenset(t.uuid for t in half[::step][: self.asked.workloads])

    def _sentinels(self) -> dict[str, Snapshot]:
        taken = [row for row in self.rows if row["step"] == "sentinels" and "file" in row]
        return {row["task"]: read_snapshot(self.asked.snapshots / row["file"]) for row in taken}

    def _snapshot(self, step: str, name: str) -> Snapshot:
        for row in self.rows:
            if (row["step"], row["task"]) == (step, name) and "file" in row:
                return read_snapshot(self.asked.snapshots / row["file"])
        raise TaskError(f"has no snapshot yet: the step {step} comes first", file=name)


def measured(step: Step) -> Row:
    """The step's row. A fault is a row too, so that the others are still taken."""
    from guard.errors import GuardBroken

    kind, task, number = step.key
    began = time.monotonic()
    try:
        found = step.do()
    except (TaskError, GuardBroken, ValueError) as error:
        found = {"why": str(error)}
    seconds = round(time.monotonic() - began, 1)
    return {"step": kind, "task": task, "number": number, "seconds": seconds, **found}


def _said(found: Holding) -> Row:
    fields = {"uuid", "answer", "ratio", "low", "high", "margin", "processes", "spread", "then_ms", "now_ms"}
    return {
        "answer": str(found.answer),
        "basis": found.basis,
        "workloads": [w.model_dump(mode="json", include=fields) for w in found.workloads],
        "differences": [str(d) for d in found.differences],
    }


def _middle(medians: tuple[float, ...]) -> float:
    return sorted(medians)[len(medians) // 2]


def _cycles(medians_ms: tuple[float, ...], share: float, snapshot: Snapshot) -> int:
    clock_mhz = snapshot.environment.clocks.get("sm_during_mhz") or _CLOCK_MHZ
    return round(share * _middle(medians_ms) * clock_mhz * 1e3)
