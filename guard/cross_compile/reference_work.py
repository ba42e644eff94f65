"""What can be said of a candidate whose launches are not seen: it does at least what the task asks."""

from __future__ import annotations

from guard.compile_report import WorkloadPrediction
from guard.cross_compile.candidate_code import bytes_of, meta_inputs
from guard.cross_compile.pretend_gpu import pretend_gpu
from guard.cross_compile.request import Request
from guard.cross_compile.steps import Recorder
from guard.prediction import Launch, predict_workload
from tasks.gpu import Arithmetic, Gpu
from tasks.inputs import load_reference
from tasks.workload import Workload


def predict_by_reference(request: Request, gpu: Gpu) -> list[WorkloadPrediction]:
    """One kernel that moves inputs and outputs once and does the reference's matrix products."""
    predicted = []
    for workload in request.workloads:
        read, written = bytes_of(request.definition, workload)
        launch = Launch(
            name=request.solution.name,
            kind="written_gemm",
            bytes=read + written,
            flops=_matrix_work(request, workload, gpu),
        )
        predicted.append(predict_workload(workload.uuid, (launch,), gpu, written))
    return predicted


def _matrix_work(request: Request, workload: Workload, gpu: Gpu) -> dict[Arithmetic, int]:
    """Operations of the reference's matrix products; none where it needs values."""
    recorder = Recorder()
    try:
        with pretend_gpu(gpu, recorder, "meta"):
            run = load_reference(request.definition).run
            inputs = meta_inputs(request.definition, workload)
            with recorder.recording():
                run(*inputs)
    except Exception:  # noqa: BLE001 - a reference may do anything, and only a rank depends on it
        return {}
    work: dict[Arithmetic, int] = {}
    for step in recorder.steps:
        for arithmetic, amount in step.launch.flops.items():
            work[arithmetic] = work.get(arithmetic, 0) + amount
    return work
