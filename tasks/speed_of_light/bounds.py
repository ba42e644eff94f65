"""A task's bounds, workload by workload."""

from __future__ import annotations

import math

from tasks.gpu import Gpu
from tasks.speed_of_light.bound import Bound, Pricing, binding
from tasks.speed_of_light.counts import Counted, Counts
from tasks.speed_of_light.graphs import Graphs
from tasks.speed_of_light.physical import Needs, resources
from tasks.speed_of_light.published import AsWritten, published_pricing
from tasks.task import Task
from tasks.workload import Workload

DRAWN = 0.01
"""By which share graphs of two sizes may differ, since routing and the like is drawn anew for each."""


def bounds(task: Task, gpu: Gpu, pricing: Pricing) -> tuple[Bound, ...]:
    """In the order of the workloads; each `note` says where less than the whole reference was counted."""
    graphs = Graphs(task)
    count = AsWritten(task.definition, graphs) if pricing == "published" else Needs(task.definition, graphs)
    counts = Counts(task.definition, task.workloads, count, 0.0 if pricing == "published" else DRAWN)
    counted = {w.uuid: counts.of(w) for w in sorted(task.workloads, key=lambda w: math.prod(w.axes.values()))}
    return tuple(_bound(workload, counted[workload.uuid], gpu, pricing) for workload in task.workloads)


def _bound(workload: Workload, counted: Counted | None, gpu: Gpu, pricing: Pricing) -> Bound:
    assert counted is not None  # what cannot be followed is counted by its outputs
    found = (
        published_pricing().resources(counted, gpu)
        if pricing == "published"
        else resources(counted, workload.tolerance, gpu)
    )
    return binding(workload.uuid, workload.axes, found, counted.note)
