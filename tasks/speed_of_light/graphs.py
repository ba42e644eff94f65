"""Kernel-Graphs of a task's workloads, and what is left to count where there is none."""

from __future__ import annotations

from tasks.graph import Graph, capture
from tasks.resolved import Resolver
from tasks.sizes import tensor_bytes
from tasks.task import Task
from tasks.workload import Workload

CAPTURE_S = 6.0
"""Of processor time that one graph may take."""
OPAQUE = "the reference could not be followed: nothing but writing its outputs is counted"


class Graphs:
    """Asked for one workload at a time; keeps none."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._shapes = Resolver(task.definition)
        self._failed = False

    def of(self, workload: Workload) -> Graph | None:
        """The graph at the workload's own sizes; `None` where the reference cannot be followed there."""
        if self._failed:  # the smallest are asked first
            return None
        try:
            graph = capture(self._task, workload, limit_s=CAPTURE_S)
        except Exception:  # noqa: BLE001 - the reference is foreign code, and may raise anything
            self._failed = True
            return None
        self._failed = graph.capture != "fake"
        return None if self._failed else graph

    def output_bytes(self, workload: Workload) -> int:
        outputs = self._shapes(workload.axes).outputs
        return sum(tensor_bytes(outputs[n], s.dtype) for n, s in self._task.definition.outputs.items())

    def output_elements(self, workload: Workload) -> int:
        outputs = self._shapes(workload.axes).outputs
        return sum(
            tensor_bytes(outputs[n], s.dtype) // s.dtype.bytes
            for n, s in self._task.definition.outputs.items()
        )
