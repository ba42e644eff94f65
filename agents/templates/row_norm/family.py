"""The family of row-wise norms."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agents.proposal import Proposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.row_norm.form import RowNorm
from agents.templates.row_norm.knobs import row_norm_knobs
from agents.templates.row_norm.recognise import recognise
from tasks.solution import Language
from tasks.task import Task

if TYPE_CHECKING:
    from jinja2 import Template

_TEMPLATE = Path(__file__).parent / "kernel.py.j2"


class RowNormFamily:
    name = "row_norm"
    numerics = (
        "Sums, mean and scale are fp32. The sum of two inputs and the normalised row are rounded where the "
        "reference rounds them; the result is rounded once more when it is stored. Sums over a row are taken in "
        "another order than the reference's, which moves the result by a few fp32 ulps."
    )

    def matches(self, task: Task) -> RowNorm | None:
        return recognise(task)

    def knobs(self, match: RowNorm) -> KnobSpace:
        return row_norm_knobs(match)

    def render(self, match: RowNorm, knobs: Knobs) -> Proposal:
        looped = int(knobs["block"]) < match.longest
        source = _template().render(norm=match, knobs=knobs, looped=looped, kind=_KINDS[match.kind])
        return Proposal(
            strategy=_strategy(match, knobs, looped),
            source=source,
            languages=(Language.TRITON,),
            destination_passing_style=True,
        )


_KINDS = {"rms": "RMSNorm", "layer": "LayerNorm"}


@cache
def _template() -> "Template":
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, undefined=StrictUndefined,
        autoescape=False,
    )  # fmt: skip
    return environment.from_string(_TEMPLATE.read_text())


def _strategy(norm: RowNorm, knobs: Knobs, looped: bool) -> str:
    added = "add + " if norm.added else ""
    columns = f"{knobs['block']} columns at a time" if looped else "whole rows"
    grid = "a persistent grid" if knobs["persistent"] else "a tile a program"
    sizes = f"{knobs['tile']} values a tile, {knobs['per_thread']} a thread"
    rest = f"{knobs['stages']} stages{', streamed' if knobs['streamed'] else ''}"
    return f"Triton {added}{_KINDS[norm.kind]}: {columns}, {sizes}, {grid}, {rest}"
