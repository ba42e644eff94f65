"""The family of backward passes of RMSNorm.

Bound by memory: two rows are read and one is written. The gradient of the gain is a sum over all rows: each program
adds up its own rows in registers, and a second small kernel adds the programs' sums, always in the same order.
"""

from pathlib import Path

from agents.proposal import Proposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.rows_backward.form import RowsBackward
from agents.templates.rows_backward.knobs import rows_backward_knobs
from agents.templates.rows_backward.recognise import recognise
from agents.templates.source import rendered
from tasks.solution import Language
from tasks.task import Task

_TEMPLATE = Path(__file__).parent / "kernel.py.j2"


class RowsBackwardFamily:
    name = "rows_backward"
    numerics = (
        "Everything is fp32 until it is stored; nothing between is rounded, even where the reference does. Sums are "
        "taken in a fixed order: the same inputs give the same bits."
    )

    def matches(self, task: Task) -> RowsBackward | None:
        return recognise(task)

    def knobs(self, match: RowsBackward) -> KnobSpace:
        return rows_backward_knobs(match)

    def render(self, match: RowsBackward, knobs: Knobs) -> Proposal:
        return Proposal(
            strategy=f"Triton RMSNorm backward: tiles of {knobs['tile']}, {knobs['per_thread']} values a thread, "
            f"{knobs['programs']} programs a multiprocessor, {knobs['stages']} stages",
            source=rendered(_TEMPLATE, form=match, knobs=knobs),
            languages=(Language.TRITON,),
            destination_passing_style=True,
        )
