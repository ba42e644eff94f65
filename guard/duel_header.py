"""Who meets whom, under which terms, and at which looks: fixed before anything is measured."""

import contextlib
import secrets
from typing import Any

from guard.comparison import CannotReject
from guard.duel_record import Header, Side
from guard.environment import Watch
from guard.languages import Entry, build
from guard.session import Session
from guard.staging import Stage
from guard.statistics.looks import looks_for
from guard.statistics.order import Arm, interleaved_order
from guard.terms import Terms
from guard.trial import Trial
from tasks.candidate import Candidate
from tasks.task import Task


class Contender:
    """One arm: its trial, the folder of its files, and how it is entered once it is built."""

    def __init__(self, arm: Arm, task: Task, candidate: Candidate, terms: Terms, session: Session) -> None:
        self.arm, self.candidate = arm, candidate
        self.trial = Trial(task, candidate, terms.process, session, lambda _: None)
        # of two that are the same, each has a folder of its own
        self.stage = Stage(candidate, session.scratch / f"arm-{arm}")
        self.trial.after_build = self.stage.carried.take
        self._entry: Entry | None = None

    @property
    def entry(self) -> Entry:
        """Built at the first asking; raises `CandidateFailed`."""
        if self._entry is None:
            trial = self.trial
            self._entry = build(
                trial.candidate, self.stage, trial.protocol.build_limit_s, trial.session.device
            )
        return self._entry


def header_of(
    task: Task,
    baseline: Candidate,
    candidate: Candidate,
    terms: Terms,
    session: Session,
    clock_policy: str = "unlocked",
    order_seed: int | None = None,
) -> Header:
    """What a new shard begins with. Raises `CannotReject` when these terms could show nothing on this task."""
    if terms.rule is not None:
        looks_for(terms.rule, len(task.workloads))
    seed = secrets.randbits(32) if order_seed is None else order_seed
    trial = Trial(task, baseline, terms.process, session, lambda _: None)
    trial.open()
    with Watch(session.device) as watch:
        pass
    return Header(
        shard=secrets.token_hex(8),
        task=task.name,
        task_digest=task.digest,
        marks=tuple(sorted({*task.marks, *trial.reference.facts["marks"]})),
        baseline=Side(name=baseline.solution.name, digest=baseline.digest),
        candidate=Side(name=candidate.solution.name, digest=candidate.digest),
        terms=terms,
        timer=trial.timer,
        clock_policy=clock_policy,
        environment=_standing(watch.environment("", trial.libraries)),
        order_seed=seed,
        order=interleaved_order(terms.processes, seed),
    )


def _standing(environment: Any) -> Any:
    """What does not change while it runs; clocks and company are kept with each process."""
    return environment.model_copy(
        update={"clocks": {}, "throttle_reasons": (), "temperature_c": None, "other_processes": 0}
    )


def looks_of(header: Header, workloads: int) -> tuple[int, ...]:
    if header.terms.rule is None:
        return ()
    with contextlib.suppress(CannotReject):
        return tuple(look.processes for look in looks_for(header.terms.rule, workloads))
    return ()
