"""What is known of a candidate for a GPU that is not here: how it compiles, and a guess at its rank.

Agents may import these. They come from a process that ran the candidate's own code, so a hostile candidate
could forge them: they order work and never enter a verdict.
"""

from typing import Literal

from tasks.value import Value


class KernelReport(Value):
    """One kernel in one specialisation, as the assembler left it."""

    name: str
    target: str
    registers: int
    """A thread."""
    spill_bytes: int
    """Local memory a thread; registers that did not fit lie there."""
    shared_bytes: int
    """A block, static and dynamic as far as the compiler knows it."""
    num_warps: int | None = None
    """A block; none where only the host code knows."""
    launches: int = 0
    """Over all workloads; 0 where launches are not seen (CUDA sources)."""
    grid: tuple[int, int, int] | None = None
    """Of its first launch."""
    tensor_memory_columns: int = 0
    error: str = ""
    """Why it cannot run on the target, such as more shared memory than a block may have."""


class CompileReport(Value):
    """`ok`: everything that the candidate launches or ships compiles for `target` and fits on it."""

    target: str
    ok: bool
    kernels: tuple[KernelReport, ...] = ()
    error: str = ""
    seconds: float = 0.0
    toolchain: dict[str, str] = {}
    """Versions of what compiled it, by name."""
    checked: bool = True
    """False: this machine lacks a tool or a value for the check; `ok` is then False and blames nobody."""

    @property
    def refused(self) -> bool:
        """The compilers themselves said no."""
        return self.checked and not self.ok


BoundBy = Literal["memory", "compute", "launch"]


class WorkloadPrediction(Value):
    uuid: str
    predicted_ms: float
    bound_by: BoundBy
    bytes: int
    """To and from device memory."""
    flops: int
    launches: int


class Prediction(Value):
    """A roofline estimate that only orders candidates. It is no measurement: never show it as one."""

    hardware: str
    workloads: tuple[WorkloadPrediction, ...]
    note: str = ""
    """What had to be assumed, in one line."""

    @property
    def total_ms(self) -> float:
        return sum(workload.predicted_ms for workload in self.workloads)
