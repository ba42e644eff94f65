"""What limits a task, guessed from its reference and sizes: the context in which options are chosen."""

from agents.descriptor import words_of
from agents.skills.skill import Bound
from tasks.effort import Effort
from tasks.task import Task

LAUNCH_BYTES = 4 << 20
"""Tensors so small are read in about the time that a kernel needs to start."""
COMPUTE_OPERATIONS = 300
"""Operations a byte, in the measure of `Effort`, in which a pass over a 16-bit tensor counts about 100."""
_PRODUCTS = frozenset(
    {
        "matmul",
        "mm",
        "bmm",
        "linear",
        "einsum",
        "addmm",
        "baddbmm",
        "scaled_dot_product_attention",
        "_scaled_mm",
    }
)


def bound_of(task: Task) -> Bound:
    """`compute` where the reference multiplies matrices and some workload has the sizes for it."""
    effort = Effort(task.definition)
    sizes = [(sum(effort.tensors_bytes(w.axes)), effort.operations(w.axes)) for w in task.workloads]
    densest = max((operations / max(moved, 1) for moved, operations in sizes), default=0.0)
    if densest > COMPUTE_OPERATIONS and words_of(task.definition.reference) & _PRODUCTS:
        return "compute"
    return "launch" if all(moved < LAUNCH_BYTES for moved, _ in sizes) else "memory"
