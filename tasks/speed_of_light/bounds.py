"""A task's bounds, workload by workload."""

from __future__ import annotations

from tasks.gpu import Gpu
from tasks.speed_of_light.bound import Bound, Pricing, binding
from tasks.speed_of_light.counts import Counted, Counts
from tasks.speed_of_light.graphs import Graphs
from tasks.speed_of_light.physical import Needs, resources
from tasks.speed_of_light.published import AsWritten, published_pricing
from tasks.task import Task
from tasks.workload import Workload


def bounds(task: Task, gpu: Gpu, pricing: Pricing) -> tuple[Bound, ...]:
    """In the order of the workloads; each `note` says where less than the whole reference was counted."""
    graphs = Graphs(task)
    count = AsWritten(task.definition, graphs) if pricing == "published" else Needs(task.definition, graphs)
    counts = Counts(task.definition, task.workloads, count)
    return tuple(_bound(workload, counts.of(workload), gpu, pricing) for workload in task.workloads)


def _bound(workload: Workload, counted: Counted | None, gpu: Gpu, pricing: Pricing) -> Bound:
    assert counted is not None  # what cannot be followed is counted by its outputs
    found = (
        published_pricing().resources(counted, gpu)
        if pricing == "published"
        else resources(counted, workload.tolerance, gpu)
    )
    return binding(workload.uuid, workload.axes, found, counted.note)
