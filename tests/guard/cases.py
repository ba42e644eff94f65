"""A small task, and candidates for it from a few lines of source."""

from tasks.candidate import Candidate
from tasks.definition import AxisConst, AxisVar, Definition, TensorSpec
from tasks.solution import BuildSpec, Solution, SourceFile
from tasks.task import Task
from tasks.workload import RandomInput, Tolerance, Workload

HONEST = "import torch\n\n\ndef run(A, B):\n    return torch.mm(A, B)\n"
HONEST_DPS = "import torch\n\n\ndef run(A, B, C):\n    torch.mm(A, B, out=C)\n"


def matmul_task(
    rows: tuple[int, ...] = (24, 40), tolerance: Tolerance | None = None, reference: str = HONEST
) -> Task:
    """C = A @ B in fp32, `rows` x 32 x 48, one workload for each number of rows."""
    axes = {"M": AxisVar(), "K": AxisConst(value=32), "N": AxisConst(value=48)}
    inputs = {
        "A": TensorSpec(shape=("M", "K"), dtype="float32"),
        "B": TensorSpec(shape=("K", "N"), dtype="float32"),
    }
    outputs = {"C": TensorSpec(shape=("M", "N"), dtype="float32")}
    definition = Definition(name="matmul", axes=axes, inputs=inputs, outputs=outputs, reference=reference)
    workloads = tuple(
        Workload(
            axes={"M": m}, inputs={"A": RandomInput(), "B": RandomInput()}, uuid=f"m{m}",
            tolerance=tolerance or Tolerance(max_atol=1e-4, max_rtol=1e-4),
        )
        for m in rows
    )  # fmt: skip
    return Task(name="matmul", definition=definition, workloads=workloads)


def candidate(task: Task, source: str = HONEST, dps: bool = False, **files: str) -> Candidate:
    """`source` as main.py with entry point `run`; further files by keyword (`mine_py="..."`)."""
    sources = [SourceFile(path="main.py", content=source)]
    sources += [SourceFile(path=name.replace("_py", ".py"), content=text) for name, text in files.items()]
    spec = BuildSpec(
        languages=("pytorch",),
        target_hardware=("LOCAL",),
        entry_point="main.py::run",
        destination_passing_style=dps,
    )
    solution = Solution(
        name="tried", definition=task.definition.name, author="tests", spec=spec, sources=tuple(sources)
    )
    return Candidate(solution=solution, definition_digest=task.definition.digest)
