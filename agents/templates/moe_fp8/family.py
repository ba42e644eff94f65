"""The family of fp8 expert layers on one rank.

Few tokens: bound by reading the matrices of the experts that are chosen, once each. Many: by two fp8 products over
ragged experts. Nothing is widened on its way: scales are applied to sums of 128 products.
"""

from pathlib import Path

from agents.proposal import Proposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.moe_fp8.form import MoeFp8
from agents.templates.moe_fp8.knobs import Tile, moe_fp8_knobs
from agents.templates.moe_fp8.recognise import recognise
from agents.templates.source import rendered
from tasks.solution import Language
from tasks.task import Task

_TEMPLATE = Path(__file__).parent / "kernel.py.j2"


class MoeFp8Family:
    name = "moe_fp8"
    numerics = (
        "Products of fp8 values are summed in fp32, each block's sum scaled by its two scales. What is between an "
        "expert's two products is quantised to e4m3 with a scale for 64 or 128 elements, where the reference keeps fp32; "
        "what an expert adds to a token is rounded to bf16. Equal affinities may be chosen in another order."
    )

    def matches(self, task: Task) -> MoeFp8 | None:
        return recognise(task)

    def knobs(self, match: MoeFp8) -> KnobSpace:
        return moe_fp8_knobs()

    def render(self, match: MoeFp8, knobs: Knobs) -> Proposal:
        into, out_of = Tile.read(str(knobs["into"])), Tile.read(str(knobs["out_of"]))
        return Proposal(
            strategy=f"Triton fp8 experts, counting sort: {knobs['rows']} rows from {knobs['many_from']} slots, "
            f"into {knobs['into']}, out of {knobs['out_of']}",
            source=rendered(_TEMPLATE, form=match, knobs=knobs, into=into, out_of=out_of),
            languages=(Language.TRITON,),
            destination_passing_style=True,
        )
