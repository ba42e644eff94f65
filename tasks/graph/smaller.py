"""A smaller workload of the same definition, for references that cannot be followed at the true sizes."""

from __future__ import annotations

from tasks.definition import Definition
from tasks.shrink import CannotShrink, shrink
from tasks.shrink_budget import ShrinkBudget
from tasks.task import Task
from tasks.workload import Workload

BUDGET = ShrinkBudget(memory_bytes=512 * 2**20, operations=200_000_000, alignment=16)


def smaller_workload(
    definition: Definition, workload: Workload, budget: ShrinkBudget = BUDGET
) -> Workload | None:
    """`workload` scaled down on its variable axes; `None` when it is small already or cannot shrink."""
    task = Task(name=definition.name, definition=definition, workloads=(workload,))
    try:
        small = shrink(task, budget).workloads[0]
    except (CannotShrink, ValueError):
        return None
    return small if small.axes != workload.axes else None
