"""Kernel-Graph: what a definition does at one workload's sizes, without a GPU and without its memory.

`capture` is for figures and pictures, and never hangs. `traced` is for rewriting: the same record as a torch.fx
graph, in this process, under the same names as long as no loop was run in part.
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


def capture(task_or_definition: Task | Definition, workload: Workload, *, limit_s: float = 20.0) -> Graph:
    """The graph of the reference at `workload`; see `tasks.graph.captured.capture`."""
    from tasks.graph.captured import capture as capture_elsewhere

    return capture_elsewhere(task_or_definition, workload, limit_s=limit_s)


def traced(
    task_or_definition: Task | Definition, workload: Workload, *, limit_s: float = 20.0, device: str = "cpu"
) -> torch.fx.GraphModule:
    """The reference at `workload` as aten calls that can be matched, rewritten and, on `device`, run.

    Raises what the reference raises, and `tasks.graph.recorder.OutOfTime` after `limit_s` seconds of processor
    time; a reference that never calls torch is not interrupted, so `capture` first.
    """
    from tasks.graph.captured import definition_of
    from tasks.graph.follow import module_here  # late: torch is slow to import

    definition, roots = definition_of(task_or_definition)
    return module_here(definition, workload, roots, limit_s, device)
