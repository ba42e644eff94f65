"""A graph for people: its groups, those alike counted together, by what they cost."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tasks.gpu import Arithmetic, Gpu
from tasks.graph.cost import group_cost
from tasks.graph.model import Graph, Group, Kind, Node
from tasks.sizes import gib


@dataclass
class Row:
    """Groups that do the same operations in the same order."""

    kind: Kind
    operations: tuple[str, ...]
    first: int
    """The number of the first of them."""
    count: int = 0
    flops: int = 0
    vector: int = 0
    read: int = 0
    written: int = 0
    cost_ms: float = 0.0
    share: float = 0.0


def rows_of(graph: Graph, gpu: Gpu | None = None) -> list[Row]:
    """In the order of execution; groups that move and compute nothing are left out."""
    nodes = {node.name: node for node in graph.nodes}
    rows: dict[tuple[str, ...], Row] = {}
    for number, group in enumerate(graph.groups):
        if not group.bytes and not group.flops and not group.vector_operations:
            continue
        operations = operations_of(group, nodes)
        row = rows.setdefault((group.kind, *operations), Row(group.kind, operations, number))
        row.count += group.times
        row.flops += sum(group.flops.values())
        row.vector += group.vector_operations
        row.read += sum(group.reads.values())
        row.written += sum(group.writes.values())
        row.cost_ms += group_cost(group, gpu)
    total = sum(row.cost_ms for row in rows.values())
    for row in rows.values():
        row.share = row.cost_ms / total if total else 0.0
    return list(rows.values())


def operations_of(group: Group, nodes: Mapping[str, Node]) -> tuple[str, ...]:
    """Short names in order, what only copies or fills left out where there is anything else."""
    short = [_short(nodes[name].operation) for name in group.nodes]
    telling = [
        name for name in short if name not in ("_to_copy", "clone", "constant", "zeros", "full", "copy_")
    ]
    return tuple(telling or short)


def _short(operation: str) -> str:
    if operation.startswith("opaque:"):
        return operation
    return re.sub(r"^aten\.|\.[^.]*$", "", operation)


def shortened(operations: Sequence[str], most: int = 6) -> str:
    """`mul+sum+rsqrt`, with repeats counted and the middle left out."""
    counted: list[list[str | int]] = []
    for name in operations:
        if counted and counted[-1][0] == name:
            counted[-1][1] = int(counted[-1][1]) + 1
        else:
            counted.append([name, 1])
    words = [str(name) if times == 1 else f"{times}x {name}" for name, times in counted]
    if len(words) > most:
        words = [*words[: most - 2], "...", *words[-1:]]
    return " + ".join(words)


def table_rows(graph: Graph, gpu: Gpu | None = None) -> list[tuple[str, ...]]:
    """Head and rows: kind, times, operations, matrix and vector work, bytes read and written, share of cost."""
    head = ("kind", "times", "operations", "matrix FLOP", "vector op", "read", "written", "share")
    return [head, *(_text(row) for row in rows_of(graph, gpu))]


def _text(row: Row) -> tuple[str, ...]:
    return (
        row.kind, str(row.count), shortened(row.operations), count_text(row.flops), count_text(row.vector),
        gib(row.read), gib(row.written), f"{row.share:.1%}",
    )  # fmt: skip


def count_text(count: float) -> str:
    """`412 G`; `-` for nothing."""
    if not count:
        return "-"
    for unit, scale in (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{count:.3g}"


def headline(graph: Graph) -> str:
    """What was captured, in one line."""
    matrix = ", ".join(f"{count_text(n)}FLOP {kind}" for kind, n in _by_size(graph.flops)) or "no matrix work"
    fused = sum(group.bytes for group in graph.groups)
    calls = sum(node.times for node in graph.nodes if node.kind != "view")
    said = (
        f"{graph.capture}: {calls} operations in {sum(g.times for g in graph.groups)} groups; {matrix}; "
        f"{gib(graph.bytes)} moved one by one, {gib(fused)} in groups; opaque {graph.opaque_share:.0%}"
    )
    return f"{said}; {graph.note}" if graph.note else said


def _by_size(flops: Mapping[Arithmetic, int]) -> list[tuple[Arithmetic, int]]:
    return sorted(flops.items(), key=lambda item: -item[1])
