"""The family of pre-norm decoder layers.

Bound by the matrices' bytes where tokens are few, by the tensor cores where they are many. The products are the
library's; norms, rotations and the gate are one pass each; attention never writes its scores.
"""

from math import log2
from pathlib import Path

from agents.proposal import Proposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.decoder.form import Decoder
from agents.templates.decoder.knobs import decoder_knobs
from agents.templates.decoder.recognise import recognise
from agents.templates.source import rendered
from tasks.solution import Language
from tasks.task import Task

_TEMPLATE = Path(__file__).parent / "kernel.py.j2"


class DecoderFamily:
    name = "decoder"
    numerics = (
        "Results of products, norms and rotations are rounded as the reference rounds them; scores and probabilities "
        "stay fp32 inside attention, and a residual is added before the rounding where it is merged."
    )

    def matches(self, task: Task) -> Decoder | None:
        return recognise(task)

    def knobs(self, match: Decoder) -> KnobSpace:
        return decoder_knobs(match)

    def render(self, match: Decoder, knobs: Knobs) -> Proposal:
        rows, columns, depth, warps, stages = str(knobs["tile"]).split("x")
        tile = {"rows": rows, "columns": columns, "depth": depth, "warps": warps, "stages": stages}
        attention = f", {str(knobs['backend']).lower()} first" if match.attention else ""
        merged = ", residual in the product" if knobs["merged"] else ""
        return Proposal(
            strategy=f"decoder layer: one gate-and-up kernel {knobs['tile']} to {knobs['fused_to']} tokens, "
            f"the library beyond{attention}{merged}",
            source=rendered(
                _TEMPLATE, form=match, a=match.attention, knobs=knobs, tile=tile, turns=_turns(match)
            ),
            languages=(Language.TRITON,),
            destination_passing_style=True,
        )


def _turns(form: Decoder) -> float:
    """The binary logarithm of the last pair's frequency, were there one more: that of the base, negative."""
    base = form.attention.base if form.attention else None
    return -log2(base) if base else 0.0
