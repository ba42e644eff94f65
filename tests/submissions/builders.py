"""Tasks, candidates and verdicts made by hand, small enough to read."""

import statistics
from typing import Any, Literal

from guard.protocol import FINAL, Protocol
from guard.verdict import Environment, Measurement, PrecisionPolicy, TimerName, Verdict, WorkloadVerdict
from submissions.facts import Provenance
from submissions.package import package
from submissions.submission import Submission
from tasks.candidate import Candidate
from tasks.definition import AxisConst, AxisVar, Definition, DType, TensorSpec
from tasks.solution import BuildSpec, CompileOptions, Hardware, Language, Solution, SourceFile
from tasks.task import Task
from tasks.trace import Status
from tasks.workload import RandomInput, Tolerance, Workload

JUDGED_AT = "2026-01-02T03:04:05+00:00"
B200 = Environment(
    device="NVIDIA B200",
    kind="cuda",
    uuid="GPU-1",
    driver="590.44",
    libraries={"torch": "2.13.0", "cuda": "13.0"},
    clocks={"before": 1500.0, "during": 1500.0, "after": 1500.0},
    temperature_c=51.0,
    isolation="vm-buffers+netns+landlock+seccomp",
)
CPU = Environment(
    device="cpu: Example 9000 | two cores",
    kind="cpu",
    libraries={"torch": "2.13.0"},
    isolation="memfd+netns+landlock+seccomp",
)

Kind = Literal["official", "measured"]

KERNEL = """#include <torch/extension.h>

void run(torch::Tensor x, torch::Tensor y) { torch::mul_out(y, x, 2); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("run", &run); }
"""


def a_task(**changes: Any) -> Task:
    definition = Definition(
        name="double_rows",
        axes={"rows": AxisVar(), "width": AxisConst(value=64)},
        inputs={"x": TensorSpec(shape=("rows", "width"), dtype=DType.FLOAT32)},
        outputs={"y": TensorSpec(shape=("rows", "width"), dtype=DType.FLOAT32)},
        reference="def run(x):\n    return x * 2\n",
    )
    workloads = tuple(
        Workload(
            axes={"rows": rows},
            inputs={"x": RandomInput()},
            uuid=f"w{rows}",
            tolerance=Tolerance(max_atol=1e-3, max_rtol=1e-3),
        )
        for rows in (1, 7, 1024)
    )
    task = Task(name="L1/001_double_rows", subset="L1", definition=definition, workloads=workloads)
    return task.model_copy(update=changes)


def a_candidate(task: Task, **spec: Any) -> Candidate:
    """In PyTorch; `spec` overrides the build spec's fields."""
    solution = Solution(
        name="double_rows_plain",
        definition=task.definition.name,
        author="Ada",
        spec=BuildSpec(
            **{
                "languages": (Language.PYTORCH,),
                "target_hardware": (Hardware.LOCAL,),
                "entry_point": "main.py::run",
                "destination_passing_style": False,
                **spec,
            }
        ),
        sources=(SourceFile(path="main.py", content="def run(x):\n    return x + x  # zweifach, ×2\n"),),
        description="Adds the rows to themselves.",
    )
    return Candidate(
        solution=solution, definition_digest=task.definition.digest, agent="template", strategy="one pass"
    )


def a_cpp_candidate(task: Task, options: CompileOptions | None) -> Candidate:
    plain = a_candidate(task)
    spec = BuildSpec(
        languages=(Language.CUDA_CPP,),
        target_hardware=(Hardware.LOCAL,),
        entry_point="kernel.cu::run",
        compile_options=options,
    )
    sources = (SourceFile(path="kernel.cu", content=KERNEL),)
    return plain.model_copy(
        update={"solution": plain.solution.model_copy(update={"spec": spec, "sources": sources})}
    )


def measurements(task: Task, timer: TimerName, processes: int = 10) -> tuple[Measurement, ...]:
    """As the guard takes them: its own calls by the wall clock and, on a GPU, the official loop by `timer`."""
    kinds: list[tuple[Kind, TimerName]] = [("measured", "wall")]
    if timer != "wall":
        kinds.append(("official", timer))
    return tuple(
        Measurement(
            workload=workload.uuid,
            process=process,
            timer=name,
            kind=kind,
            times_ms=tuple(0.1 * (number + 1) + 0.001 * process**2 + (1e-5 * call) ** 2 for call in range(3)),
        )
        for process in range(processes)
        for number, workload in enumerate(task.workloads)
        for kind, name in kinds
    )


def a_verdict(
    task: Task,
    candidate: Candidate,
    *,
    environment: Environment = B200,
    timer: TimerName = "cupti",
    protocol: Protocol = FINAL,
    precision: PrecisionPolicy = "tolerance",
    **changes: Any,
) -> Verdict:
    samples = measurements(task, timer)
    protocol = protocol.model_copy(update={"precision": precision})
    workloads = tuple(
        WorkloadVerdict(
            uuid=workload.uuid,
            axes=workload.axes,
            status=Status.PASSED,
            accepted=True,
            max_absolute_error=1.5e-7,
            max_relative_error=2.5e-7,
            matched_ratio=1.0,
            latency_ms=statistics.median(
                statistics.median(m.times_ms)
                for m in samples
                if m.workload == workload.uuid and m.timer == timer
            ),
            timer=timer,
        )
        for workload in task.workloads
    )
    verdict = Verdict(
        task=task.name,
        task_digest=task.digest,
        candidate_digest=candidate.digest,
        status="accepted",
        workloads=workloads,
        measurements=samples,
        environment=environment,
        protocol=protocol.name,
        protocol_digest=protocol.digest,
        precision=precision,
    )
    return verdict.model_copy(update=changes)


def a_context(verdict: Verdict, protocol: Protocol = FINAL, **changes: Any) -> Provenance:
    return Provenance(
        protocol=protocol.model_copy(update={"precision": verdict.precision}),
        judged_at=JUDGED_AT,
        versions={"kernelarc": "0.1.0", "python": "3.11.9", "torch": "2.13.0"},
        **changes,
    )


def ready() -> Submission:
    """Judged on the target, with nothing to complain of."""
    task = a_task()
    candidate = a_candidate(task)
    verdict = a_verdict(task, candidate)
    return package(task, candidate, verdict, context=a_context(verdict))


def draft() -> Submission:
    """Judged on a CPU."""
    task = a_task()
    candidate = a_candidate(task)
    verdict = a_verdict(task, candidate, environment=CPU, timer="wall")
    return package(task, candidate, verdict, context=a_context(verdict, command="make submit TASK=double"))
