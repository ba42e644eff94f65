"""The record of a run as a torch.fx graph, which can be matched, rewritten and run again."""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node

from tasks.definition import Definition
from tasks.graph.steps import Ref, Step
from tasks.graph.trace import Trace


def graph_module(trace: Trace, definition: Definition, returned: Any, device: torch.device) -> GraphModule:
    """Nodes carry the names of `Graph.nodes`; `meta` has `val` (a tensor without memory) and `line`.

    Its calls are the reference's own, in order: views are views, and writes in place stay writes. Values that
    steered the reference are part of it, so it holds for this workload alone. Tensors that it makes are made
    on `device`.
    """
    graph = Graph()
    known: dict[str, Node] = {}
    shapes = {tensor.name: tensor for tensor in trace.inputs}
    for name in definition.inputs:  # Python numbers are placeholders too, so that it is called as `run` is
        known[name] = graph.placeholder(name)
        if name in shapes:
            known[name].meta["val"] = _blank(shapes[name].shape, getattr(torch, shapes[name].dtype))
    module = torch.nn.Module()
    for step in trace.steps:
        _add(graph, module, trace, known, step, device)
    graph.output(_replaced(_named(trace, returned), known))
    return GraphModule(module, graph)


def _add(
    graph: Graph,
    module: torch.nn.Module,
    trace: Trace,
    known: dict[str, Node],
    step: Step,
    device: torch.device,
) -> None:
    if step.function == "constant":
        module.register_buffer(step.name, trace.constants[step.name].to(device), persistent=False)
        node = graph.create_node("get_attr", step.name, name=step.name)
    else:
        args, kwargs = _replaced(step.args, known, device), _replaced(step.kwargs, known, device)
        node = graph.create_node("call_function", step.function, args, kwargs, name=step.name)
    node.meta["line"] = step.line
    known[step.name] = node
    if len(step.outputs) == 1 and step.outputs[0].name == step.name:
        node.meta["val"] = _blank(step.outputs[0].shape, step.outputs[0].dtype)
        return
    for place, tensor in zip(step.places, step.outputs, strict=True):
        part = graph.create_node("call_function", operator.getitem, (node, place), name=tensor.name)
        part.meta.update(val=_blank(tensor.shape, tensor.dtype), line=step.line)
        known[tensor.name] = part


def _blank(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    return torch.empty(shape, dtype=dtype, device="meta")


def _named(trace: Trace, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return Ref(trace.name_of(value))
    if isinstance(value, dict):
        return {key: _named(trace, item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_named(trace, item) for item in value)
    return value


def _replaced(value: Any, known: dict[str, Node], device: torch.device | None = None) -> Any:
    """References as nodes, and the device of tensors without memory as `device`."""
    if isinstance(value, Ref):
        return known[value.name]
    if isinstance(value, torch.device):
        return device if value.type == "meta" else value
    if isinstance(value, dict):
        return {key: _replaced(item, known, device) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_replaced(item, known, device) for item in value)
    return value
