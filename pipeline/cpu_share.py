"""How much of a task a CPU judges: each workload scaled down, and of those as many as time allows."""

import os
from collections.abc import Mapping, Sequence, Set

from guard.errors import GuardBroken
from tasks.effort import Effort
from tasks.shrink import CannotShrink, shrink
from tasks.shrink_budget import ShrinkBudget
from tasks.task import LintFinding, Task

OPERATIONS = 1_000_000
"""Multiply-adds of one call. Few: Triton's interpreter takes milliseconds a program, a row each perhaps."""
STRUCTURAL_OPERATIONS = 1_000_000_000
"""As many may a call take for the sizes of the model to stay what they are."""
COST = 12_000_000_000
"""Of one call on every workload, in multiply-adds: half a second of two cores. A candidate makes about ten."""
MOST_WORKLOADS = 3
MEMORY_SHARE = 0.85
"""Of the machine's memory, which has to hold the reference, the inputs twice and the outputs three times."""


def cpu_share(task: Task) -> Task:
    """What of `task` is judged on a CPU, marked as shrunk unless it is all of it.

    Raises `GuardBroken` with the figures when even the smallest sizes need more memory than there is.
    """
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    fine = ShrinkBudget(
        memory_bytes=int(memory * MEMORY_SHARE),
        operations=OPERATIONS,
        structural_operations=STRUCTURAL_OPERATIONS,
    )
    coarse = fine.model_copy(update={"alignment": 16, "slack": 1.05})
    effort = Effort(task.definition)
    try:
        shrunk = shrink(task, fine)
        if min(effort.operations(workload.axes) for workload in shrunk.workloads) > COST:
            shrunk = shrink(task, coarse)  # weights alone are dear: no more tokens than need be
        return _affordable(shrunk, effort)
    except CannotShrink as too_large:
        raise GuardBroken(str(too_large)) from None


def _affordable(task: Task, effort: Effort) -> Task:
    """Of the cheapest workloads whose costs add up to no more than `COST` a few, at least one; order kept."""
    costs = {workload.uuid: effort.operations(workload.axes) for workload in task.workloads}
    var = task.definition.var_axes
    ragged = {w.uuid for w in task.workloads if any(w.axes.get(a, 1) > 1 and w.axes[a] % 16 for a in var)}
    kept = _spread(_within(costs), ragged)
    if len(kept) == len(task.workloads):
        return task
    workloads = tuple(workload for workload in task.workloads if workload.uuid in kept)
    remark = LintFinding(
        level="note",
        code="cpu-share",
        file=task.name,
        field="workloads",
        problem=f"{len(costs) - len(kept)} of {len(costs)} scaled-down workloads take a CPU too long",
        mend="judge all of them on a GPU",
    )
    return task.model_copy(
        update={
            "workloads": workloads,
            "marks": tuple(dict.fromkeys((*task.marks, "shrunk"))),
            "originals": {new: old for new, old in task.originals.items() if new in kept},
            "findings": (*task.findings, remark),
        }
    )


def _within(costs: Mapping[str, int]) -> list[str]:
    """uuids from the cheapest on, as many as `COST` pays for, and at least one."""
    affordable: list[str] = []
    spent = 0
    for uuid in sorted(costs, key=costs.__getitem__):
        spent += costs[uuid]
        if affordable and spent > COST:
            break
        affordable.append(uuid)
    return affordable


def _spread(uuids: Sequence[str], ragged: Set[str]) -> set[str]:
    """At most `MOST_WORKLOADS` of them, first and last among them, evenly between, a ragged one where there is one."""
    if len(uuids) <= MOST_WORKLOADS:
        return set(uuids)
    step = (len(uuids) - 1) / (MOST_WORKLOADS - 1)
    chosen = [uuids[round(number * step)] for number in range(MOST_WORKLOADS)]
    others = [uuid for uuid in uuids if uuid in ragged]
    if others and not ragged & set(chosen):
        chosen[1] = others[0]  # masks and tails are where kernels go wrong
    return set(chosen)
