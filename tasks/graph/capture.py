"""A reference followed at one workload's sizes: first by shapes, with values where they steer."""

from __future__ import annotations

import time
from typing import Any

import torch

from tasks.definition import Definition
from tasks.graph.assemble import assemble
from tasks.graph.data_dependent import NeedsValues
from tasks.graph.graph_module import graph_module
from tasks.graph.inputs import make_inputs
from tasks.graph.model import Graph
from tasks.graph.recorder import Recorder
from tasks.graph.source import Source
from tasks.graph.trace import Trace
from tasks.graph.values import Values
from tasks.graph.whole_calls import WholeCalls
from tasks.inputs import seeded
from tasks.task import Task
from tasks.workload import Workload


def follow(definition: Definition, workload: Workload, roots: tuple[str, ...], deadline: float) -> tuple[Trace, Any]:
    """The record of one run, and what it returned; raises whatever the reference raises."""
    try:
        return _follow(definition, workload, roots, deadline, floats=False)
    except NeedsValues:
        return _follow(definition, workload, roots, deadline, floats=True)


def _follow(
    definition: Definition, workload: Workload, roots: tuple[str, ...], deadline: float, *, floats: bool
) -> tuple[Trace, Any]:
    source = Source(definition, lambda tree: {})
    trace = Trace(source.file)
    recorder = Recorder(trace, Values(floats=floats), deadline)
    with seeded(0, torch.device("cpu")), recorder, WholeCalls(recorder):
        inputs = make_inputs(recorder, source, definition, workload, roots)
        for name, value in zip(definition.inputs, inputs, strict=True):
            if isinstance(value, torch.Tensor):
                trace.add_input(name, value)
        trace.on = True
        returned = source.run(*inputs)
    return trace, returned


def capture_here(definition: Definition, workload: Workload, roots: tuple[str, ...] = (), limit_s: float = 20.0) -> Graph:
    trace, returned = follow(definition, workload, roots, time.monotonic() + limit_s)
    return assemble(trace, definition, returned, "fake", "")


def definition_of(given: Task | Definition) -> tuple[Definition, tuple[str, ...]]:
    if isinstance(given, Task):
        return given.definition, given.blob_roots
    return given, ()


def traced_here(
    definition: Definition, workload: Workload, roots: tuple[str, ...] = (), limit_s: float = 20.0
) -> torch.fx.GraphModule:
    trace, returned = follow(definition, workload, roots, time.monotonic() + limit_s)
    return graph_module(trace, definition, returned)
