"""From the record of a run to the graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import BaseModel

from tasks.definition import Definition
from tasks.graph.cost import node_cost
from tasks.graph.demand import demanded
from tasks.graph.fusion import fuse
from tasks.graph.model import CaptureKind, Graph, Node, Tensor
from tasks.graph.steps import Made, Step, dtype_name
from tasks.graph.trace import Trace
from tasks.tensors import tensors_in


def assemble(trace: Trace, definition: Definition, returned: Any, capture: CaptureKind, note: str) -> Graph:
    """The graph of what `trace` holds; `returned` is what the reference gave back."""
    results = list(tensors_in(returned))
    names = tuple(trace.root_of(tensor) for tensor in results)
    outputs = tuple(
        Tensor(name=name, shape=tuple(tensor.shape), dtype=dtype_name(tensor.dtype))
        for name, tensor in zip(output_names(definition, len(results)), results, strict=True)
    )
    nodes = tuple(_nodes(trace.steps))
    inputs = tuple(trace.inputs)
    return Graph(
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
    """The declared names, or numbered ones where the reference returns another number of tensors."""
    declared = list(definition.outputs)
    return declared if len(declared) == count else [f"output_{index}" for index in range(count)]


def opaque_share(nodes: tuple[Node, ...]) -> float:
    """Of the cost of all nodes, what lies in opaque ones."""
    total = sum(node_cost(node) for node in nodes)
    return sum(node_cost(node) for node in nodes if node.opaque) / total if total else 0.0


def _nodes(steps: list[Step]) -> Iterator[Node]:
    operations: dict[Any, str] = {}
    for step in steps:
        work, times = step.work, step.times
        operation = operations.get(step.function)
        if operation is None:
            operation = operations[step.function] = str(step.function)
        yield unchecked(
            Node,
            name=step.name,
            operation=f"opaque:{operation}" if work.opaque else operation,
            kind=work.kind,
            inputs=tuple(dict.fromkeys((*step.operands, *step.newer))),
            outputs=tuple([_tensor(made) for made in step.outputs]),
            flops={arithmetic: amount * times for arithmetic, amount in work.flops.items()},
            vector_operations=work.vector * times,
            bytes_read=sum(work.reads) * times,
            bytes_written=work.written * times,
            opaque=work.opaque,
            touched=step.touched,
            times=times,
            line=step.line,
        )


def _tensor(made: Made) -> Tensor:
    return unchecked(Tensor, name=made.name, shape=tuple(made.shape), dtype=dtype_name(made.dtype))


_Model = TypeVar("_Model", bound=BaseModel)


def unchecked(model: type[_Model], **fields: Any) -> _Model:
    """A value of all its fields, unvalidated: pydantic's own way takes ten times as long, for every node."""
    made = model.__new__(model)
    object.__setattr__(made, "__dict__", fields)
    object.__setattr__(made, "__pydantic_fields_set__", set(fields))
    object.__setattr__(made, "__pydantic_extra__", None)
    object.__setattr__(made, "__pydantic_private__", None)
    return made
