"""Graphs where a reference could not be followed at its sizes: scaled from smaller ones, or a single node."""

from __future__ import annotations

from tasks.definition import Definition
from tasks.dtypes import FP4
from tasks.effort import Effort
from tasks.gpu import Arithmetic
from tasks.graph.model import Graph, Group, Node, Tensor
from tasks.workload import Workload


def scaled_graph(
    small: Graph, definition: Definition, smaller: Workload, workload: Workload, why: str
) -> Graph:
    """`small`, captured at `smaller`, with work and bytes as many times as large as at `workload`.

    Bytes grow as the inputs and outputs do, work as the guess of `tasks.effort` does: good for shares within
    the graph, and no basis for a bound.
    """
    effort = Effort(definition)
    bytes_ = sum(effort.tensors_bytes(workload.axes)) / max(sum(effort.tensors_bytes(smaller.axes)), 1)
    work = effort.operations(workload.axes) / max(effort.operations(smaller.axes), 1)
    return small.model_copy(
        update={
            "inputs": _tensors(definition, workload, outputs=False),
            "outputs": _tensors(definition, workload, outputs=True),
            "nodes": tuple(_scaled_node(node, bytes_, work) for node in small.nodes),
            "groups": tuple(_scaled_group(group, bytes_, work) for group in small.groups),
            "touched": {t.name: t.bytes for t in _tensors(definition, workload, outputs=False)},
            "capture": "concrete-small",
            "note": f"followed at {_sizes(smaller)} and scaled, because at the true sizes {why}",
        }
    )


def opaque_graph(definition: Definition, workload: Workload, why: str) -> Graph:
    """One node that reads every input and writes every output, with the work that the shapes suggest."""
    inputs, outputs = (_tensors(definition, workload, outputs=side) for side in (False, True))
    operations = 2 * Effort(definition).operations(workload.axes)
    flops: dict[Arithmetic, int] = {"fp32": operations}
    read, written = sum(t.bytes for t in inputs), sum(t.bytes for t in outputs)
    node = Node(
        name="reference", operation=f"opaque:{why}", kind="opaque", inputs=tuple(t.name for t in inputs),
        outputs=outputs, flops=flops, bytes_read=read, bytes_written=written, opaque=True,
    )  # fmt: skip
    group = Group(
        nodes=("reference",), kind="opaque", reads={t.name: t.bytes for t in inputs},
        writes={t.name: t.bytes for t in outputs}, flops=flops,
    )  # fmt: skip
    return Graph(
        inputs=inputs, outputs=outputs, results=tuple(t.name for t in outputs), nodes=(node,), groups=(group,),
        capture="opaque", opaque_share=1.0, touched={t.name: t.bytes for t in inputs}, note=why,
    )  # fmt: skip


def _tensors(definition: Definition, workload: Workload, *, outputs: bool) -> tuple[Tensor, ...]:
    specs = definition.outputs if outputs else definition.inputs
    shapes = (definition.output_shapes if outputs else definition.input_shapes)(workload.axes)
    return tuple(
        Tensor(name=name, shape=shape, dtype="float4_e2m1fn_x2" if spec.dtype in FP4 else spec.dtype.value)
        for name, spec in specs.items()
        if (shape := shapes[name]) is not None
    )


def _scaled_node(node: Node, bytes_: float, work: float) -> Node:
    return node.model_copy(
        update={
            "flops": {arithmetic: int(amount * work) for arithmetic, amount in node.flops.items()},
            "vector_operations": int(node.vector_operations * bytes_),
            "bytes_read": int(node.bytes_read * bytes_),
            "bytes_written": int(node.bytes_written * bytes_),
        }
    )


def _scaled_group(group: Group, bytes_: float, work: float) -> Group:
    return group.model_copy(
        update={
            "flops": {arithmetic: int(amount * work) for arithmetic, amount in group.flops.items()},
            "vector_operations": int(group.vector_operations * bytes_),
            "reads": {name: int(amount * bytes_) for name, amount in group.reads.items()},
            "writes": {name: int(amount * bytes_) for name, amount in group.writes.items()},
        }
    )


def _sizes(workload: Workload) -> str:
    return ", ".join(f"{axis}={size}" for axis, size in workload.axes.items())
