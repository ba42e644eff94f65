"""The family of gated activations.

Bound by memory: three elements move for each that is computed. A thread has one or two 16-byte vectors of both
sources in flight; a matrix of few elements is cut finer, until every multiprocessor has a piece.
"""

from pathlib import Path

from agents.proposal import Proposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.source import rendered
from agents.templates.swiglu.form import ACTIVATIONS, Gated
from agents.templates.swiglu.knobs import gated_knobs
from agents.templates.swiglu.recognise import recognise
from tasks.solution import Language
from tasks.task import Task

_TEMPLATE = Path(__file__).parent / "kernel.py.j2"


class GatedFamily:
    name = "swiglu"
    numerics = (
        "Arithmetic is fp32, the activated gate rounded where the reference rounds it, the product rounded once. "
        "The exponential and the division are the hardware's, within two fp32 ulps."
    )

    def matches(self, task: Task) -> Gated | None:
        return recognise(task)

    def knobs(self, match: Gated) -> KnobSpace:
        return gated_knobs()

    def render(self, match: Gated, knobs: Knobs) -> Proposal:
        source = rendered(_TEMPLATE, gated=match, knobs=knobs, formula=ACTIVATIONS[match.activation])
        streamed = ", streamed" if knobs["streamed"] else ""
        return Proposal(
            strategy=f"Triton {match.activation} gate: tiles of {knobs['tile']}, {knobs['columns']} columns, "
            f"{knobs['per_thread']} values a thread{streamed}",
            source=source,
            languages=(Language.TRITON,),
            destination_passing_style=True,
        )
