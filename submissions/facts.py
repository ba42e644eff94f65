"""What a submission states about how its figures came about."""

from datetime import datetime
from pathlib import PurePath
from typing import Literal, Self

from pydantic import field_validator

from guard.compile_report import CompileReport, Prediction
from guard.protocol import Protocol
from guard.verdict import Measurement, Verdict
from submissions.transfer.finding import TransferFinding
from tasks.candidate import Candidate
from tasks.solution import BuildSpec
from tasks.task import LintFinding, Mark, Subset, Task
from tasks.value import Value, digest_of

Target = Literal["B200", "LOCAL"]

EVALUATOR = "SOL-ExecBench v1.1 (correctness as in 1.0.2: 10 rounds from seed 200, official comparison)"
TIMING = {
    "cupti": "CUPTI as evaluator v1.1 uses it: first start to last end of a call's device activities, "
    "pointers shifted, L2 flushed, 10 warm-up, 1 discovery and 50 timed calls, median",
    "cuda-events": "CUDA events around each call; not the official timer",
    "wall": "the CPU's wall clock around each call; not the official timer",
}


class Provenance(Value):
    """What `package` cannot read off the task, the candidate and the verdict."""

    protocol: Protocol
    judged_at: str
    """When the verdict was made, ISO 8601 with its offset; recorded then, so that packing reads no clock."""
    command: str = ""
    """The command line that led here, for the report."""
    lint: tuple[LintFinding, ...] = ()
    """Findings beyond those on the task and on the solution as it is uploaded, which `package` adds."""
    compile_reports: tuple[CompileReport, ...] = ()
    predictions: tuple[Prediction, ...] = ()
    reference: tuple[Measurement, ...] = ()
    """The reference's own times, taken beside the candidate's; none when it was not timed."""
    dataset_revision: str | None = None
    sol_table: str | None = None
    """Which table of T_SOL the figures may be scored against."""
    versions: dict[str, str] = {}
    """Of kernelarc, Python, torch and triton; `submissions.versions` reads them."""
    passed_over: tuple[str, ...] = ()
    """Better candidates that must not be packaged for the target, and why, one sentence each."""

    @field_validator("judged_at")
    @classmethod
    def _is_a_moment(cls, text: str) -> str:
        if datetime.fromisoformat(text).tzinfo is None:
            raise ValueError(f"judged_at {text!r} has no UTC offset")
        return text


class TaskRecord(Value):
    """What was asked, by name and digest; the definition's text stays where it came from."""

    name: str
    subset: Subset | None
    source: str
    definition: str
    digest: str
    definition_digest: str
    workloads_digest: str
    marks: tuple[Mark, ...]
    originals: dict[str, str]
    """Of a shrunk workload's uuid, the uuid it was shrunk from."""
    findings: tuple[LintFinding, ...]

    @classmethod
    def of(cls, task: Task) -> Self:
        return cls(
            name=task.name,
            subset=task.subset,
            source=task.source,
            definition=task.definition.name,
            digest=task.digest,
            definition_digest=task.definition.digest,
            workloads_digest=digest_of([w.model_dump(mode="json") for w in task.workloads]),
            marks=task.marks,
            originals=task.originals,
            findings=tuple(_anywhere(finding) for finding in task.findings),
        )


def _anywhere(finding: LintFinding) -> LintFinding:
    """The same remark wherever the task lies: the file by its name, so that two machines write the same bytes."""
    return finding.model_copy(update={"file": PurePath(finding.file).name})


class CandidateRecord(Value):
    """The candidate as it was judged: its sources stand in solution.json, its build spec here."""

    digest: str
    name: str
    author: str
    agent: str
    strategy: str
    description: str | None
    spec: BuildSpec

    @classmethod
    def of(cls, candidate: Candidate) -> Self:
        solution = candidate.solution
        return cls(
            digest=candidate.digest,
            name=solution.name,
            author=solution.author,
            agent=candidate.agent,
            strategy=candidate.strategy,
            description=solution.description,
            spec=solution.spec,
        )


class Facts(Value):
    """All that is stated; what follows from it is in `Evidence`."""

    format: Literal["kernelarc-evidence-2"] = "kernelarc-evidence-2"
    task: TaskRecord
    candidate: CandidateRecord
    target: Target
    verdict: Verdict
    """Without its measurements, which are the samples."""
    verdict_digest: str
    """Of the whole verdict, measurements included."""
    samples_digest: str
    solution_digest: str
    """Of every field of solution.json, flags and calling style included."""
    protocol: Protocol
    judged_at: str
    command: str
    lint: tuple[LintFinding, ...]
    compile_reports: tuple[CompileReport, ...]
    """Without the seconds that compiling took, which differ each time."""
    predictions: tuple[Prediction, ...]
    transfer: tuple[TransferFinding, ...]
    """What it carries over to the target from where it was judged; nothing in it is refused."""
    passed_over: tuple[str, ...]
    dataset_revision: str | None
    sol_table: str | None
    versions: dict[str, str]
    evaluator: str
    timing: tuple[str, ...]


def timing_of(verdict: Verdict) -> tuple[str, ...]:
    """How the times of `verdict` were taken, one sentence a timer."""
    timers = sorted({w.timer for w in verdict.workloads if w.timer is not None})
    return tuple(TIMING[timer] for timer in timers)
