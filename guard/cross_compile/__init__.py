"""What can be known of a candidate for a GPU that is not here: whether it compiles for it, and a guess at its rank.

The candidate's code runs for this, in a sandboxed process of its own; what comes back orders work and is never
part of a verdict. Nothing here imports torch.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from guard.compile_report import CompileReport, Prediction
from guard.cross_compile.request import Reply, Request
from guard.program_files import ProgramFailed
from guard.programs import Programs
from guard.runner import run_program
from tasks.candidate import Candidate
from tasks.gpu import Gpu, gpu_of_target, load_gpu
from tasks.task import Task
from tasks.workload import Workload

__all__ = ["cross_compile", "examine", "predict"]

LIMIT_S = 180.0


def cross_compile(
    candidate: Candidate, task: Task, target: str, scratch: Path, small: Mapping[str, Workload] | None = None
) -> CompileReport:
    """How `candidate` compiles for `target` (`sm_100a`); whatever goes wrong is in the report."""
    reports, _ = examine(candidate, task, (target,), None, scratch, small)
    return reports[0]


def predict(
    candidate: Candidate,
    task: Task,
    hardware: str | Gpu,
    scratch: Path,
    small: Mapping[str, Workload] | None = None,
) -> Prediction:
    """A rank on `hardware` (`B200`, or the path of a YAML file); its `workloads` lack what was not followed."""
    _, prediction = examine(candidate, task, (), hardware, scratch, small)
    assert prediction is not None
    return prediction


def examine(
    candidate: Candidate,
    task: Task,
    targets: Iterable[str],
    hardware: str | Gpu | None,
    scratch: Path,
    small: Mapping[str, Workload] | None = None,
    limit_s: float = LIMIT_S,
    programs: Programs | None = None,
) -> tuple[tuple[CompileReport, ...], Prediction | None]:
    """Both in one run: a report for each of `targets`, and a prediction where `hardware` is given.

    `small` gives, by uuid, workloads scaled down for candidates that look at values (`.item()`, masks); without it
    they are reported as not followed. `programs` spares each run its imports. `TaskError` for a target or hardware
    that nobody knows.
    """
    wanted = hardware if isinstance(hardware, Gpu) or hardware is None else load_gpu(hardware)
    gpus = {target: gpu_of_target(target) for target in targets}
    asked = tuple(gpus)
    if wanted is not None:
        gpus[wanted.target] = wanted
    scratch.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=scratch, prefix="cross-", ignore_cleanup_errors=True) as folder:
        request = Request(
            solution=candidate.solution, definition=task.definition, workloads=task.workloads,
            small=dict(small or {}), blob_roots=task.blob_roots, gpus=tuple(gpus.values()),
            predict_for=wanted.name if wanted else None, folder=folder, limit_s=limit_s,
        )  # fmt: skip
        reply = _ask(request, programs)
    reports = dict(zip(gpus, reply.reports, strict=True))
    prediction = None
    if wanted is not None:
        prediction = Prediction(hardware=wanted.name, workloads=reply.predicted, note=reply.note)
    return tuple(reports[target] for target in asked), prediction


def _ask(request: Request, programs: Programs | None) -> Reply:
    run = programs.run if programs is not None and programs.is_alive else run_program
    try:
        reply = run(
            "guard.cross_compile", request.model_dump(mode="json"), limit_s=request.limit_s,
            scratch=Path(request.folder),
        )  # fmt: skip
        return Reply.model_validate(reply)
    except (ProgramFailed, ValueError) as error:
        # the process ran the candidate's code, which may have ended it, or its time, or spoilt the answer
        failed = f"the process that examined it gave no answer: {error}"[:1000]
        reports = tuple(
            CompileReport(target=gpu.target, ok=False, checked=False, error=failed) for gpu in request.gpus
        )
        return Reply(reports=reports, note=failed)
