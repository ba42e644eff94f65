"""The family of backward passes of expert layers.

Few tokens an expert: bound by reading every matrix (gate and up twice) and writing every gradient. Many: by eight
products of [slots, hidden, inner]. Matrices of fp32 are rounded to the operands' type on their way to the tensor cores.
"""

from pathlib import Path

from agents.proposal import Proposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.moe_backward.form import MoeBackward
from agents.templates.moe_backward.knobs import PRODUCTS, Tile, moe_backward_knobs
from agents.templates.moe_backward.recognise import recognise
from agents.templates.source import rendered
from tasks.solution import Language
from tasks.task import Task

_TEMPLATE = Path(__file__).parent / "kernel.py.j2"


class MoeBackwardFamily:
    name = "moe_backward"
    numerics = (
        "Operands of products are rounded to bf16 (fp16 for fp32 matrices, whose values must then stay below 65504), "
        "sums are fp32. The gradient of what is inside an expert is not rounded before the routing weight, and what "
        "a slot adds to its token is rounded once. Sums are taken in a fixed order: the same inputs give the same bits."
    )

    def matches(self, task: Task) -> MoeBackward | None:
        form = recognise(task)
        return form if form is not None and form.slots else None

    def knobs(self, match: MoeBackward) -> KnobSpace:
        return moe_backward_knobs(match)

    def render(self, match: MoeBackward, knobs: Knobs) -> Proposal:
        tiles = {name: Tile.read(str(knobs[name])) for name in PRODUCTS}
        source = rendered(_TEMPLATE, form=match, knobs=knobs, **tiles)
        shown = ", ".join(f"{name} {knobs[name]}" for name in tiles)
        return Proposal(
            strategy=f"Triton expert backward, counting sort: {knobs['rows']} rows from {knobs['many_from']} slots, "
            f"{shown} by {knobs['span']}, {knobs['operands']} operands, {knobs['parts']} parts",
            source=source,
            languages=(Language.TRITON,),
            destination_passing_style=True,
        )
