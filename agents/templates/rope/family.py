"""The family of rotary embeddings.

Bound by memory: every element is read and written once, angles come from the cache after the first head. All
tensors are rotated in one launch, so that a few tokens cost one.
"""

from pathlib import Path

from agents.proposal import Proposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.rope.form import Rope
from agents.templates.rope.knobs import rope_knobs
from agents.templates.rope.recognise import recognise
from agents.templates.source import rendered
from tasks.solution import Language
from tasks.task import Task

_TEMPLATE = Path(__file__).parent / "kernel.py.j2"


class RopeFamily:
    name = "rope"
    numerics = (
        "Arithmetic is fp32 and rounded once, each product before that where the reference does so; a product "
        "and a sum may be one fused operation, which rounds once less than the reference."
    )

    def matches(self, task: Task) -> Rope | None:
        return recognise(task)

    def knobs(self, match: Rope) -> KnobSpace:
        return rope_knobs()

    def render(self, match: Rope, knobs: Knobs) -> Proposal:
        streamed = ", streamed" if knobs["streamed"] else ""
        return Proposal(
            strategy=f"Triton rope, {len(match.rotated)} tensors in one launch: {knobs['pairs']} pairs a program, "
            f"{knobs['per_thread']} a thread{streamed}",
            source=rendered(_TEMPLATE, rope=match, knobs=knobs),
            languages=(Language.TRITON,),
            destination_passing_style=True,
        )
