"""The family of causal prefill over pages or ragged keys."""

from pathlib import Path

from agents.proposal import Proposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.paged_attention import PagedAttention, recognise
from agents.templates.paged_prefill.knobs import prefill_knobs
from agents.templates.source import rendered
from tasks.solution import Language
from tasks.task import Task

_TEMPLATE = Path(__file__).parent / "kernel.py.j2"


class PagedPrefillFamily:
    """Bound by the matrix units for long sequences, by what is written where queries see few keys."""

    name = "paged_prefill"
    numerics = (
        "Products of queries and keys are summed in fp32, softmax and its sum are fp32. Weights are rounded to the "
        "type of the values before they are multiplied, where the reference keeps fp32. Queries without a key give "
        "zeros and a log-sum-exp of minus infinity."
    )

    def matches(self, task: Task) -> PagedAttention | None:
        return recognise(task, prefill=True)

    def knobs(self, match: PagedAttention) -> KnobSpace:
        return prefill_knobs(match)

    def render(self, match: PagedAttention, knobs: Knobs) -> Proposal:
        return Proposal(
            strategy=(
                f"Triton prefill, groups of {match.group} heads in tiles of {knobs['parts']} x {knobs['block_m']} rows, "
                f"{knobs['block_n']} keys at a time, {knobs['warps']} warps, {knobs['stages']} stages"
            ),
            source=rendered(_TEMPLATE, attention=match, knobs=knobs),
            languages=(Language.TRITON,),
            destination_passing_style=True,
        )
