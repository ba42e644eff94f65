"""From the record of a run to the graph."""

from __future__ import annotations

from typing import Any

from tasks.definition import Definition
from tasks.graph.demand import demanded
from tasks.graph.fusion import fuse
from tasks.graph.model import CaptureKind, Graph, Node, Tensor
from tasks.graph.steps import Step, tensors_in
from tasks.graph.trace import Trace


def assemble(trace: Trace, definition: Definition, returned: Any, capture: CaptureKind, note: str) -> Graph:
    """The graph of what `trace` holds; `returned` is what the reference gave back."""
    results = list(tensors_in(returned))
    names = tuple(trace.root_of(tensor) for tensor in results)
    outputs = tuple(
        Tensor(name=name, shape=tuple(tensor.shape), dtype=str(tensor.dtype).removeprefix("torch."))
        for name, tensor in zip(output_names(definition, len(results)), results, strict=True)
    )
    nodes = tuple(_node(step) for step in trace.steps)
    inputs = tuple(trace.inputs)
    return Graph.model_construct(
        inputs=inputs,
        outputs=outputs,
        results=names,
        nodes=nodes,
        groups=fuse(trace.steps, inputs, names),
        capture=capture,
        opaque_share=opaque_share(nodes),
        touched=demanded(trace.steps, inputs, names),
        note=note or "; ".join(trace.notes),
    )


def output_names(definition: Definition, count: int) -> list[str]:
    declared = list(definition.outputs)
    return declared if len(declared) == count else [f"output_{index}" for index in range(count)]


def opaque_share(nodes: tuple[Node, ...]) -> float:
    """Of the cost of all nodes, what lies in opaque ones."""
    from tasks.graph.cost import node_cost

    total = sum(node_cost(node) for node in nodes)
    return sum(node_cost(node) for node in nodes if node.opaque) / total if total else 0.0


def _node(step: Step) -> Node:
    times, work = step.times, step.work
    function = step.function
    return Node.model_construct(
        name=step.name,
        operation=f"opaque:{function}" if work.opaque else str(function),
        kind=work.kind,
        inputs=tuple(dict.fromkeys((*step.operands, *step.newer))),
        outputs=step.outputs,
        flops={arithmetic: amount * times for arithmetic, amount in work.flops.items()},
        vector_operations=work.vector * times,
        bytes_read=sum(work.reads) * times,
        bytes_written=work.written * times,
        opaque=work.opaque,
        touched=step.touched,
        times=times,
        line=step.line,
    )
