"""A submission: one solution for one target, with the evidence for it."""

import re
from pathlib import PurePosixPath

from guard.verdict import Measurement, Verdict
from submissions.evidence import Evidence
from submissions.facts import TaskRecord
from submissions.readiness import Readiness
from submissions.samples import Samples
from submissions.traces import traces
from tasks.solution import Solution
from tasks.trace import Trace
from tasks.value import Value
from tasks.workload import Workload


class Submission(Value):
    """`package` makes one; `submissions.files` writes it down, `submissions.read` reads it again."""

    evidence: Evidence
    solution: Solution
    workloads: tuple[Workload, ...]
    measurements: tuple[Measurement, ...]
    reference: tuple[Measurement, ...] = ()

    @property
    def digest(self) -> str:
        return self.evidence.digest

    @property
    def readiness(self) -> Readiness:
        return self.evidence.readiness

    @property
    def verdict(self) -> Verdict:
        """The whole verdict, raw samples included."""
        return self.evidence.verdict.model_copy(update={"measurements": self.measurements})

    @property
    def samples(self) -> Samples:
        return Samples(self.measurements, self.reference)

    @property
    def traces(self) -> tuple[Trace, ...]:
        return traces(
            definition=self.evidence.task.definition,
            solution=self.solution.name,
            workloads=self.workloads,
            verdict=self.evidence.verdict,
            samples=self.samples,
            judged_at=self.evidence.judged_at,
        )

    @property
    def folder(self) -> PurePosixPath:
        """Where it belongs, below the root of all submissions: `ready/L2/l2_decoder/0123456789ab`."""
        subset, task = shelf(self.evidence.task)
        return PurePosixPath(self.readiness, subset, task, self.digest[:12])


def shelf(task: TaskRecord) -> tuple[str, str]:
    """The two folder names that a task's submissions lie under; nothing in a name can climb out of them."""
    name = re.sub(r"[^A-Za-z0-9._-]", "_", PurePosixPath(task.name).name).lstrip(".")
    return task.subset or "other", name or task.definition_digest[:12]
