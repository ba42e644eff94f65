"""A reference followed at one workload's sizes: first by shapes, with values where they steer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import torch

from tasks.definition import Definition
from tasks.graph.assemble import assemble
from tasks.graph.by_value import NeedsValues
from tasks.graph.graph_module import graph_module
from tasks.graph.inputs import make_inputs, taken
from tasks.graph.loops import Loops
from tasks.graph.model import Graph
from tasks.graph.recorder import Recorder
from tasks.graph.source import Source
from tasks.graph.trace import Trace
from tasks.graph.values import Values
from tasks.graph.whole_calls import WholeCalls
from tasks.inputs import seeded
from tasks.workload import Workload

MOST_PASSES = 6


def follow(
    definition: Definition, workload: Workload, roots: tuple[str, ...], deadline: float, *,
    folds: bool = True, given: Sequence[Any] | None = None,
) -> tuple[Trace, Any]:  # fmt: skip
    """The record of one run, and what it returned; raises whatever the reference raises.

    Where the reference looks at values that were not followed, it is run again with what they come from. `given`
    are real inputs, on the host, to be taken instead of made-up ones.
    """
    wanted: frozenset[str] = frozenset()
    for _ in range(MOST_PASSES):
        try:
            return _follow(definition, workload, roots, deadline, wanted, folds=folds, given=given)
        except NeedsValues as needed:
            wanted |= needed.wanted
    return _follow(definition, workload, roots, deadline, wanted, folds=folds, given=given, ask=False)


def _follow(
    definition: Definition, workload: Workload, roots: tuple[str, ...], deadline: float,
    wanted: frozenset[str], *, folds: bool, given: Sequence[Any] | None, ask: bool = True,
) -> tuple[Trace, Any]:  # fmt: skip
    trace = Trace()
    recorder = Recorder(trace, Values(wanted), deadline)
    recorder.asks = ask
    source = Source(definition, Loops(recorder).rewrite)
    trace.file = source.file
    with seeded(0, torch.device("cpu")), recorder, WholeCalls(recorder):
        if given is None:
            inputs = make_inputs(recorder, source, definition, workload, roots)
        else:
            inputs = [taken(recorder, n, value) for n, value in zip(definition.inputs, given, strict=True)]
        tensors = zip(definition.inputs, inputs, strict=True)
        trace.begin_run({name: value for name, value in tensors if isinstance(value, torch.Tensor)})
        recorder.folds = folds  # not before: the values of inputs come from every iteration
        returned = source.run(*inputs)
    return trace, returned


def answer(request: dict[str, Any]) -> bytes:
    """A request of `tasks.graph.captured`: the graph as JSON."""
    definition = Definition.model_validate(request["definition"])
    workload = Workload.model_validate(request["workload"])
    graph = graph_here(definition, workload, tuple(request["roots"]), request["limit_s"])
    return graph.model_dump_json().encode()


def graph_here(
    definition: Definition, workload: Workload, roots: tuple[str, ...] = (), limit_s: float = 20.0,
    given: Sequence[Any] | None = None,
) -> Graph:  # fmt: skip
    """The graph, followed in this process; raises whatever the reference raises, and `OutOfTime`."""
    trace, returned = _forgiving(definition, workload, roots, limit_s, given)
    return assemble(trace, definition, returned, "fake", "")


def _forgiving(
    definition: Definition, workload: Workload, roots: tuple[str, ...], limit_s: float,
    given: Sequence[Any] | None,
) -> tuple[Trace, Any]:  # fmt: skip
    """Where loops run in part lead nowhere, they are run in full."""
    deadline = time.thread_time() + limit_s
    try:
        return follow(definition, workload, roots, deadline, given=given)
    except Exception:  # noqa: BLE001 - foreign code may raise anything
        return follow(definition, workload, roots, deadline, folds=False, given=given)


def module_here(
    definition: Definition, workload: Workload, roots: tuple[str, ...] = (), limit_s: float = 20.0,
    device: str = "cpu", given: Sequence[Any] | None = None,
) -> torch.fx.GraphModule:  # fmt: skip
    """The record as a torch.fx graph, every loop in full."""
    trace, returned = follow(
        definition, workload, roots, time.thread_time() + limit_s, folds=False, given=given
    )
    return graph_module(trace, definition, returned, torch.device(device))
