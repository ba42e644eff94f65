"""What a card can do at most: compulsory bytes and needed products, with everything in one kernel.

Bytes: of each input what the results depend on, in its own type, once; each output once. (The evaluator leaves
the second-level cache full of lines that are still to be written, so what a kernel writes drives out as much.)
Products: at the peak of the cheapest format that may pass, without what a mask makes needless. Element-wise work
is free, since a reference may do more of it than is needed.
"""

from __future__ import annotations

from tasks.definition import Definition
from tasks.gpu import Arithmetic, Gpu
from tasks.graph import Graph
from tasks.speed_of_light.counts import Counted
from tasks.speed_of_light.graphs import OPAQUE, Graphs
from tasks.speed_of_light.masks import Masks, is_square_mask
from tasks.speed_of_light.precision import cheapest
from tasks.workload import Tolerance, Workload

BYTES = "bytes"
_NARROW: dict[str, Arithmetic] = {
    "float8_e4m3fn": "fp8", "float8_e5m2": "fp8", "float4_e2m1fn_x2": "nvfp4",
}  # fmt: skip


class Needs:
    """Counts the bytes and, by the format they are written in, the products that no kernel can avoid."""

    def __init__(self, definition: Definition, graphs: Graphs) -> None:
        self._is_causal = "is_causal" in definition.reference
        self._graphs = graphs

    def __call__(self, workload: Workload) -> Counted:
        graph = self._graphs.of(workload)
        if graph is None:
            return Counted({BYTES: self._graphs.output_bytes(workload)}, note=OPAQUE, is_exact=False)
        tensors = (*graph.inputs, *(output for node in graph.nodes for output in node.outputs))
        formats = frozenset(_NARROW[t.dtype] for t in tensors if t.dtype in _NARROW)
        return Counted({BYTES: compulsory_bytes(graph), **self._products(graph)}, formats, graph.note)

    def _products(self, graph: Graph) -> dict[str, int]:
        masks, products = Masks(graph), dict[str, int]()
        for node in graph.nodes:
            if not node.flops:
                continue
            share = 0.5 if node.kind == "attention" and self._is_causal else masks.needed(node)
            for declared, flops in node.flops.items():
                products[declared] = products.get(declared, 0) + int(share * flops)
        return products


def compulsory_bytes(graph: Graph) -> int:
    """Of what is read and written; a mask that may always be causal need not be read."""
    reads = sum(graph.touched[t.name] for t in graph.inputs if not is_square_mask(t.name, t.shape))
    inputs = {tensor.name for tensor in graph.inputs}
    made = dict(zip(graph.results, graph.outputs, strict=True))
    return reads + sum(tensor.bytes for name, tensor in made.items() if name not in inputs)


def resources(counted: Counted, tolerance: Tolerance, gpu: Gpu) -> dict[str, float]:
    """Milliseconds that memory and, where there are products, the matrix units take at least.

    The matrix units go by the name of the format that takes them the longest.
    """
    found = {"memory": counted.amounts[BYTES] / gpu.bandwidth}
    times: dict[Arithmetic, float] = {}
    for name, flops in counted.amounts.items():
        if name != BYTES and flops:
            arithmetic = cheapest(name, tolerance, counted.formats, gpu)  # type: ignore[arg-type]
            times[arithmetic] = times.get(arithmetic, 0.0) + flops / gpu.peak(arithmetic)
    if times:
        found[max(times, key=lambda arithmetic: times[arithmetic])] = sum(times.values())
    return found
