"""The smallest task there is, and candidates for it."""

from tasks.candidate import Candidate
from tasks.definition import AxisVar, Definition, DType, TensorSpec
from tasks.solution import BuildSpec, Hardware, Language, Solution, SourceFile
from tasks.task import Task
from tasks.workload import RandomInput, Workload


def doubling_task(sizes: tuple[int, ...] = (4, 8)) -> Task:
    """`y = 2 x` over `n` elements, one workload a size."""
    vector = TensorSpec(shape=("n",), dtype=DType.FLOAT32)
    definition = Definition(
        name="doubling",
        axes={"n": AxisVar()},
        inputs={"x": vector},
        outputs={"y": vector},
        reference="def run(x):\n    return x * 2\n",
    )
    workloads = tuple(
        Workload(axes={"n": size}, inputs={"x": RandomInput()}, uuid=f"workload-{size}") for size in sizes
    )
    return Task(name="doubling", definition=definition, workloads=workloads)


def candidate(behaviour: str, task: Task | None = None, agent: str = "user") -> Candidate:
    """One whose source holds `# fake: <behaviour>` for the fake judge to read."""
    of = task or doubling_task()
    # comments alone make no other candidate, so the behaviour stands in the code as well
    code = f"BEHAVIOUR = {behaviour!r}\ndef run(x):\n    return x * 2\n"
    solution = Solution(
        name=behaviour,
        definition=of.definition.name,
        author="tests",
        spec=BuildSpec(
            languages=(Language.PYTORCH,),
            target_hardware=(Hardware.B200,),
            entry_point="solution.py::run",
            destination_passing_style=False,
        ),
        sources=(SourceFile(path="solution.py", content=f"# fake: {behaviour}\n{code}"),),
    )
    return Candidate(
        solution=solution, definition_digest=of.definition.digest, agent=agent, strategy=behaviour
    )
