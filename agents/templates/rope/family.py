"""The family of rotary embeddings.

Bound by memory: every element is read and written once, angles come from the cache after the first head. All
tensors are rotated in one launch, so that a few tokens cost one.
"""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agents.proposal import Proposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.rope.form import Rope
from agents.templates.rope.knobs import rope_knobs
from agents.templates.rope.recognise import recognise
from tasks.solution import Language
from tasks.task import Task

if TYPE_CHECKING:
    from jinja2 import Template

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
            source=_template().render(rope=match, knobs=knobs),
            languages=(Language.TRITON,),
            destination_passing_style=True,
        )


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined,
        autoescape=False,
    )  # fmt: skip
    return environment.from_string(_TEMPLATE.read_text())
