"""The official traces of a submission: one a workload, from the verdict and the raw samples."""

from collections.abc import Sequence

from guard.verdict import Verdict, WorkloadVerdict, latency_of
from submissions.samples import Samples
from tasks.trace import Correctness, Evaluation, Performance, Status, Trace, TraceEnvironment
from tasks.workload import Workload


def traces(
    *,
    definition: str,
    solution: str,
    workloads: Sequence[Workload],
    verdict: Verdict,
    samples: Samples,
    judged_at: str,
) -> tuple[Trace, ...]:
    """In the order of `workloads`, which is that of the verdict. A figure of 0 means: not measured."""
    environment = TraceEnvironment(
        hardware=verdict.environment.device, libs=dict(sorted(verdict.environment.libraries.items()))
    )
    return tuple(
        Trace(
            definition=definition,
            workload=workload,
            solution=solution,
            evaluation=Evaluation(
                status=judged.status,
                environment=environment,
                timestamp=judged_at,
                log=judged.note,
                correctness=_correctness(judged),
                performance=_performance(judged, samples),
            ),
        )
        for workload, judged in zip(workloads, verdict.workloads, strict=True)
    )


def _correctness(judged: WorkloadVerdict) -> Correctness | None:
    if judged.status not in (Status.PASSED, Status.INCORRECT_NUMERICAL):
        return None
    return Correctness(
        max_relative_error=judged.max_relative_error or 0.0,
        max_absolute_error=judged.max_absolute_error or 0.0,
        has_nan=judged.has_nan,
        has_inf=judged.has_inf,
    )


def _performance(judged: WorkloadVerdict, samples: Samples) -> Performance | None:
    if judged.status is not Status.PASSED:
        return None
    latency_ms = judged.latency_ms or 0.0
    reference_ms = latency_of(samples.reference, judged.uuid) or 0.0
    return Performance(
        latency_ms=latency_ms,
        reference_latency_ms=reference_ms,
        speedup_factor=reference_ms / latency_ms if latency_ms else 0.0,
    )
