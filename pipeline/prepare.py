"""From a name to the task that this machine can judge: inputs settled, shrunk where it must be."""

from typing import Literal

from pipeline.cpu_share import cpu_share
from pipeline.progress import Progress
from pipeline.settings import Settings
from tasks.errors import TaskError
from tasks.task import Task
from tasks.value import Value
from tasks.workload import Workload


class Prepared(Value):
    """The task as it was asked, and as it is judged here; the two are one on a GPU."""

    asked: Task
    judged: Task

    @property
    def was_shrunk(self) -> bool:
        return self.asked.digest != self.judged.digest

    @property
    def small(self) -> dict[str, Workload]:
        """Of a full-size workload's uuid, one scaled down from it."""
        return {self.judged.originals.get(w.uuid, w.uuid): w for w in self.judged.workloads}


def prepare(settings: Settings, name: str, device: Literal["cpu", "cuda"], progress: Progress) -> Prepared:
    """Raises `TaskError` for a fault of the task, `GuardBroken` for what does not fit this machine."""
    return prepare_task(settings, load(settings, name), device, progress)


def load(settings: Settings, name: str) -> Task:
    """The task called `name`, to be judged: `TaskError` too where nothing can be judged by it (ADR 16).

    Such a task loads, as it does officially; judged by it, the reference itself would seem to be wrong.
    """
    import tasks
    from tasks.lint.task import NO_OUTPUTS
    from tasks.lint.tolerance import NEGATIVE

    task = tasks.load(name, data_roots=settings.data)
    for finding in task.findings:
        if finding.code in (NEGATIVE, NO_OUTPUTS):
            raise TaskError(finding.problem, file=finding.file, field=finding.field, mend=finding.mend)
    return task


def prepare_task(
    settings: Settings, task: Task, device: Literal["cpu", "cuda"], progress: Progress
) -> Prepared:
    """As `prepare`, for a task that is no name's in the catalogue."""
    asked = _with_inputs(task, settings)
    judged = asked if device == "cuda" else cpu_share(asked)
    prepared = Prepared(asked=asked, judged=judged)
    announce(prepared, progress)
    return prepared


def announce(prepared: Prepared, progress: Progress) -> None:
    """Why a result on it is not one on what was asked."""
    if "synthetic-inputs" in prepared.asked.marks:
        progress.note("inputs are made up where none are recorded: a result on them stays a draft")
    if prepared.was_shrunk:
        count = f"{len(prepared.judged.workloads)} of {len(prepared.asked.workloads)} workloads"
        progress.note(f"shrunk to fit a CPU ({count}): a result on them stays a draft")


def _with_inputs(task: Task, settings: Settings) -> Task:
    from tasks.blobs import missing_blobs
    from tasks.synthetic import mark_synthetic

    if settings.inputs == "synthetic":
        return mark_synthetic(task.model_copy(update={"blob_roots": ()}))
    missing = missing_blobs(task)
    if missing and settings.inputs == "recorded":
        raise TaskError(
            f"{len(missing)} recorded inputs are missing, {missing[0]} first",
            file=task.name,
            field="inputs",
            mend="get them with `kernelarc data download`, or say --inputs synthetic",
        )
    return mark_synthetic(task)
