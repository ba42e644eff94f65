"""A snapshot: what was submitted, what it took in every process, and all that must be the same to say so again.

It says no more than the submission it was taken from, and holds what is needed to rebuild the candidate and
judge it once more: `holds` compares, `kernelarc reproduce` judges.
"""

import re
import statistics
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, ValidationError, model_validator

from guard.protocol import Protocol
from guard.verdict import Environment, Measurement, TimerName, deciding
from leaderboard.score import ProblemScore
from leaderboard.tables import Provenance
from submissions.facts import CandidateRecord, Target, TaskRecord
from submissions.readiness import Readiness
from submissions.submission import Submission
from tasks.errors import TaskError
from tasks.solution import Solution
from tasks.value import Value, digest_of

FEWEST_PROCESSES = 8
"""Of a ready submission; with fewer, no later run could show that it holds over many workloads."""
Medians = tuple[Annotated[float, Field(gt=0, allow_inf_nan=False)], ...]


class WorkloadTimes(Value):
    """One workload: the median of each fresh process, milliseconds, in the order the processes ran."""

    uuid: str
    timer: TimerName
    kind: Literal["measured", "official"]
    medians_ms: Annotated[Medians, Field(min_length=1)]


class TableRecord(Value):
    """Which table of T_SOL or T_b a score was made with."""

    digest: str
    provenance: Provenance


class Snapshot(Value):
    format: Literal["kernelarc-snapshot-1"] = "kernelarc-snapshot-1"
    taken_on: date
    """Given, never taken from a clock: the same submission gives the same snapshot."""
    submission: str
    """Digest of the submission it was taken from."""
    readiness: Readiness
    target: Target
    task: TaskRecord
    candidate: CandidateRecord
    solution_digest: str
    solution: Solution | None
    """None: it lies in the submission's own folder, and `solution_digest` says whether it is the one."""
    times: tuple[WorkloadTimes, ...]
    """Of every workload that was timed."""
    environment: Environment
    protocol: Protocol
    versions: dict[str, str]
    evaluator: str
    dataset_revision: str | None = None
    score: ProblemScore | None = None
    t_sol: TableRecord | None = None
    t_b: TableRecord | None = None
    sentinels: dict[str, Medians] = {}
    """Of each workload of other snapshots of the same card, taken to stand for its speed: the medians of its
    processes, milliseconds, by `sentinel_name`."""

    @model_validator(mode="after")
    def _says_enough(self) -> Self:
        few = [t.uuid for t in self.times if len(t.medians_ms) < FEWEST_PROCESSES]
        if self.readiness == "ready" and (few or not self.times):
            raise ValueError(
                f"workload {few[0] if few else 'none'}: a ready submission needs the medians of "
                f"{FEWEST_PROCESSES} processes or more"
            )
        if self.score is not None and (self.t_sol is None or self.t_b is None):
            raise ValueError("a score needs the names of its tables")
        return self

    @property
    def digest(self) -> str:
        return digest_of(self.model_dump(mode="json"))

    @property
    def name(self) -> str:
        """Of its file, without the suffix: the task for a person, the digest for the reader."""
        task = re.sub(r"[^A-Za-z0-9._-]", "_", PurePosixPath(self.task.name).name).lstrip(".") or "task"
        return f"{task}-{self.digest[:12]}"


def sentinel_name(candidate: str, workload: str) -> str:
    """One name for one kernel and workload, whichever snapshot it stands in: by digest and uuid."""
    return f"{candidate[:12]}[{workload}]"


def process_medians(measurements: Iterable[Measurement], workload: str) -> WorkloadTimes | None:
    """The median of each process of `workload`, from the measurements that decide; None when it was not timed.

    `ValueError` when two timers took them: those are never pooled.
    """
    own = deciding(measurements, workload)
    samples = process_samples(own)
    if not samples:
        return None
    if len({m.timer for m in own}) != 1:
        raise ValueError(f"workload {workload} was timed by several timers")
    medians = tuple(_medians(samples))
    return WorkloadTimes(uuid=workload, timer=own[0].timer, kind=own[0].kind, medians_ms=medians)


def process_samples(own: Iterable[Measurement]) -> list[list[float]]:
    """The times of each process that has any, in the order the processes ran."""
    times: dict[int, list[float]] = {}
    for m in own:
        times.setdefault(m.process, []).extend(m.times_ms)
    return [times[process] for process in sorted(times) if times[process]]


def _medians(samples: list[list[float]]) -> list[float]:
    """As `statistics.median` gives them; where all are of one length, at a fraction of its cost."""
    if len({len(times) for times in samples}) > 1:
        return [statistics.median(times) for times in samples]
    ordered = np.sort(np.asarray(samples, np.float64), axis=1)
    count = ordered.shape[1]
    medians: list[float] = ((ordered[:, (count - 1) // 2] + ordered[:, count // 2]) / 2).tolist()
    return medians


def take_snapshot(
    submission: Submission,
    *,
    taken_on: date | None = None,
    inline: bool = True,
    score: tuple[ProblemScore, TableRecord, TableRecord] | None = None,
    sentinels: Mapping[str, Medians] | None = None,
) -> Snapshot:
    """The snapshot of a submission that verifies; dated by when it was judged unless `taken_on` is given.

    `score` comes with its tables of T_SOL and of T_b. `TaskError` when the submission says too little.
    """
    evidence = submission.evidence
    found = (process_medians(submission.measurements, w.uuid) for w in evidence.verdict.workloads)
    scored, t_sol, t_b = score or (None, None, None)
    try:
        return Snapshot(
            taken_on=taken_on or datetime.fromisoformat(evidence.judged_at).date(),
            submission=submission.digest,
            readiness=submission.readiness,
            target=evidence.target,
            task=evidence.task,
            candidate=evidence.candidate,
            solution_digest=evidence.solution_digest,
            solution=submission.solution if inline else None,
            times=tuple(times for times in found if times is not None),
            environment=evidence.verdict.environment,
            protocol=evidence.protocol,
            versions=evidence.versions,
            evaluator=evidence.evaluator,
            dataset_revision=evidence.dataset_revision,
            score=scored,
            t_sol=t_sol,
            t_b=t_b,
            sentinels=dict(sentinels or {}),
        )
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise TaskError(
            problem, file=str(submission.folder), mend="judge it again under the final protocol"
        ) from error
