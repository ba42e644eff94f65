"""The rules behind the published T_SOL, told from the published values and the tool that made them.

One roofline over the whole problem: a fixed part, and the longer of moving bytes and multiplying.

- Every element counts two bytes and every product runs at the 16-bit peak, whatever its type.
- A call reads the graph inputs handed to it only when it is handed nothing else; it does so again in each call
  that takes them. An operand that meets one made on the way is not counted, nor is what a linear layer is handed.
- Of what is indexed or sliced only the part returned is read.
- Written is what is returned and not used on the way. Element-wise work is free.
- A number of rows that depends on values is taken at its most.
- Where the source names fp8 or fp4, elements and products are all in that type, and there is no fixed part.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import Field

from tasks.definition import Definition
from tasks.gpu import FOLDER, Arithmetic, Gpu
from tasks.graph import Graph
from tasks.inputs_reference import load_reference
from tasks.resolved import Resolver
from tasks.speed_of_light.calls import PARTS, Call, follow
from tasks.speed_of_light.counts import Counted
from tasks.speed_of_light.graphs import OPAQUE, Graphs
from tasks.value import Value
from tasks.workload import Workload

FILE = FOLDER / "pricing" / "published.yaml"
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Rates(Value):
    bandwidth_tb_per_s: Positive
    peak_tflops: Positive


class Narrow(Value):
    """How a problem in a narrow type is priced."""

    named: str
    """What its reference's source holds."""
    bytes_per_element: Positive
    speed_up: Positive
    """Over the 16-bit peak."""


class PublishedPricing(Value):
    source: str
    overhead_us: Annotated[float, Field(ge=0)]
    bytes_per_element: Positive
    arithmetic: Arithmetic
    rates: dict[str, Rates]
    """By the hardware's name; another card is priced at its own data sheet."""
    narrow: dict[Arithmetic, Narrow]
    """The narrowest last."""

    def format_of(self, source: str) -> frozenset[Arithmetic]:
        """The narrowest type that a reference's source names, if any."""
        named = [name for name, narrow in self.narrow.items() if narrow.named in source]
        return frozenset(named[-1:])

    def rates_of(self, gpu: Gpu) -> Rates:
        return self.rates.get(gpu.name) or Rates(
            bandwidth_tb_per_s=gpu.bandwidth_tb_per_s, peak_tflops=gpu.peak(self.arithmetic) / 1e9
        )

    def resources(self, counted: Counted, gpu: Gpu) -> dict[str, float]:
        """Milliseconds of each resource, the fixed part included."""
        rates, fixed, width, peak, name = (
            self.rates_of(gpu),
            self.overhead_us / 1e3,
            self.bytes_per_element,
            1.0,
            "",
        )
        for name in counted.formats:
            fixed, width, peak = 0.0, self.narrow[name].bytes_per_element, self.narrow[name].speed_up
        moved = counted.amounts["elements"] * width
        found = {"memory": fixed + moved / (rates.bandwidth_tb_per_s * 1e9)}
        if counted.amounts["flops"]:
            found[name or self.arithmetic] = fixed + counted.amounts["flops"] / (
                rates.peak_tflops * peak * 1e9
            )
        return found


@cache
def published_pricing(path: Path = FILE) -> PublishedPricing:
    return PublishedPricing.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


class AsWritten:
    """Counts elements and operations by the rules above.

    A reference that needs values from its inputs, such as the ends of sequences, is counted by its graph: what
    the results depend on is read once, what they are is written once.
    """

    def __init__(self, definition: Definition, graphs: Graphs) -> None:
        self._definition, self._graphs = definition, graphs
        self._reference, self._shapes = load_reference(definition), Resolver(definition)
        self._formats = published_pricing().format_of(definition.reference)
        self._needs_values = False

    def __call__(self, workload: Workload) -> Counted:
        calls = None
        if not self._needs_values:
            shapes = self._shapes(workload.axes).inputs
            calls = follow(self._definition, self._reference, shapes, workload.scalars)
        if calls is not None:
            read = sum(_read(call) for call in calls.calls)
            return Counted({"elements": read + calls.written, "flops": calls.flops}, self._formats)
        self._needs_values = True
        return self._by_graph(workload)

    def _by_graph(self, workload: Workload) -> Counted:
        written, graph = self._graphs.output_elements(workload), self._graphs.of(workload)
        if graph is None:
            return Counted({"elements": written, "flops": 0}, note=OPAQUE, is_exact=False)
        flops = sum(graph.flops.values())
        amounts = {"elements": _touched_elements(graph) + written, "flops": flops}
        return Counted(amounts, self._formats, graph.note)


def _touched_elements(graph: Graph) -> int:
    return sum(graph.touched[t.name] * t.elements // t.bytes for t in graph.inputs if t.bytes)


def _read(call: Call) -> int:
    if call.inner or call.name == "linear":
        return 0
    whole = sum(call.inputs)
    return min(whole, call.made) if call.name in PARTS else whole
