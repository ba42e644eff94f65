"""What the cross-compiling program is asked, and what it answers."""

from guard.compile_report import CompileReport, WorkloadPrediction
from tasks.definition import Definition
from tasks.gpu import Gpu
from tasks.solution import Solution
from tasks.value import Value
from tasks.workload import Workload


class Request(Value):
    solution: Solution
    definition: Definition
    workloads: tuple[Workload, ...]
    small: dict[str, Workload] = {}
    """Scaled-down workloads by the uuid of the original, for code that looks at values; one that is not among
    them is followed on the first."""
    blob_roots: tuple[str, ...] = ()
    gpus: tuple[Gpu, ...]
    """One a target."""
    predict_for: str | None = None
    """Name of the one among `gpus` that is predicted for."""
    folder: str
    """Where the program may write."""
    limit_s: float
    """It stops taking on workloads in time to answer within this."""


class Reply(Value):
    reports: tuple[CompileReport, ...]
    """One a GPU, in the order asked."""
    predicted: tuple[WorkloadPrediction, ...] = ()
    note: str = ""
