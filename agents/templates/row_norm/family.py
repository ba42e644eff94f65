"""The family of row-wise norms."""

from pathlib import Path

from agents.proposal import Proposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.row_norm.form import RowNorm
from agents.templates.row_norm.knobs import row_norm_knobs
from agents.templates.row_norm.recognise import recognise
from agents.templates.source import rendered
from tasks.solution import Language
from tasks.task import Task

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
        source = rendered(_TEMPLATE, norm=match, knobs=knobs, looped=looped, kind=_KINDS[match.kind])
        return Proposal(
            strategy=_strategy(match, knobs, looped),
            source=source,
            languages=(Language.TRITON,),
            destination_passing_style=True,
        )


_KINDS = {"rms": "RMSNorm", "layer": "LayerNorm"}


def _strategy(norm: RowNorm, knobs: Knobs, looped: bool) -> str:
    added = "add + " if norm.added else ""
    columns = f"{knobs['block']} columns at a time" if looped else "whole rows"
    grid = "a persistent grid" if knobs["persistent"] else "a tile a program"
    sizes = f"{knobs['tile']} values a tile, {knobs['per_thread']} a thread"
    rest = f"{knobs['stages']} stages{', streamed' if knobs['streamed'] else ''}"
    return f"Triton {added}{_KINDS[norm.kind]}: {columns}, {sizes}, {grid}, {rest}"
