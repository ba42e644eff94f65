"""Kernel-Graph: what a definition does at one workload's sizes, without a GPU and without its memory.

`capture` is for figures and pictures, and never hangs. `traced` is for rewriting: the same record as a torch.fx
graph, with the same names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tasks.graph.model import CaptureKind, Graph, Group, Kind, Node, Tensor

if TYPE_CHECKING:
    import torch

    from tasks.definition import Definition
    from tasks.task import Task
    from tasks.workload import Workload

__all__ = ["CaptureKind", "Graph", "Group", "Kind", "Node", "Tensor", "capture", "traced"]


def capture(
    task_or_definition: Task | Definition, workload: Workload, *, limit_s: float = 20.0
) -> Graph:
    """The graph of the reference at `workload`; see `tasks.graph.capture`."""
    from tasks.graph.capture import capture_here, definition_of  # late: torch is slow to import

    definition, roots = definition_of(task_or_definition)
    return capture_here(definition, workload, roots, limit_s)


def traced(
    task_or_definition: Task | Definition, workload: Workload, *, limit_s: float = 20.0
) -> torch.fx.GraphModule:
    """The reference at `workload` as aten calls that can be matched, rewritten and run.

    Raises what the reference raises, and `OutOfTime` after `limit_s` seconds.
    """
    from tasks.graph.capture import definition_of, traced_here

    definition, roots = definition_of(task_or_definition)
    return traced_here(definition, workload, roots, limit_s)
