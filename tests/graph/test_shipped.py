"""Every shipped task, small and real: the graph counts what a second counter sees, and replays to the same."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tasks import load
from tasks.catalogue import list_tasks
from tasks.graph.follow import graph_here, module_here
from tasks.inputs import InputGenerator, load_reference
from tasks.shrink import CannotShrink, shrink
from tasks.shrink_budget import ShrinkBudget
from tasks.task import Task
from tests.graph.counting import counted

SMALL = ShrinkBudget(memory_bytes=1200 * 2**20, operations=30_000_000, alignment=16)
SHIPPED = [entry.name for entry in list_tasks() if entry.source == "shipped"]


def small(task: Task) -> Task:
    try:
        return shrink(task, SMALL)
    except CannotShrink:
        return shrink(task, SMALL, constants=True)


def compare(task: Task, place: int) -> None:
    """One workload: counts within 2 %, outputs of the replay equal to the reference's."""
    workload, definition = task.workloads[place], task.definition
    inputs = InputGenerator(definition, workload, "cpu", task.blob_roots).make(seed=3)
    run = load_reference(definition).run
    count, expected = counted(run, _copies(inputs))
    graph = graph_here(definition, workload, given=inputs)
    assert sum(graph.flops.values()) == pytest.approx(count.flops, rel=0.02)
    assert graph.bytes == pytest.approx(count.bytes, rel=0.02)
    assert graph.opaque_share < 0.2
    assert [t.shape for t in graph.outputs] == [tuple(t.shape) for t in _listed(expected)]
    module = module_here(definition, workload, given=inputs)
    for got, wanted in zip(_listed(module(*_copies(inputs))), _listed(expected), strict=True):
        torch.testing.assert_close(got.float(), wanted.float(), equal_nan=True)


def _listed(value: Any) -> list[torch.Tensor]:
    return [value] if isinstance(value, torch.Tensor) else list(value)


def _copies(inputs: list[Any]) -> list[Any]:
    return [value.clone() if isinstance(value, torch.Tensor) else value for value in inputs]


@pytest.mark.parametrize("name", SHIPPED)
def test_counts_agree_and_the_module_replays(name: str) -> None:
    compare(small(load(name)), 0)
