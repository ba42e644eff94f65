"""The family of decoding over pages or ragged keys."""

from pathlib import Path

from agents.proposal import Proposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.paged_attention import PagedAttention, recognise
from agents.templates.paged_decode.knobs import decode_knobs
from agents.templates.source import rendered
from tasks.solution import Language
from tasks.task import Task

_TEMPLATE = Path(__file__).parent / "kernel.py.j2"


class PagedDecodeFamily:
    """Bound by the reading of keys and values; for few sequences by the latency of two launches."""

    name = "paged_decode"
    numerics = (
        "Products of queries and keys are summed in fp32, softmax and its sum are fp32. Weights are rounded to the "
        "type of the values before they are multiplied, where the reference keeps fp32. Chunks are merged in fp32, "
        "always in the same order. A sequence without keys gives zeros and a log-sum-exp of minus infinity."
    )

    def matches(self, task: Task) -> PagedAttention | None:
        return recognise(task, prefill=False)

    def knobs(self, match: PagedAttention) -> KnobSpace:
        return decode_knobs(match)

    def render(self, match: PagedAttention, knobs: Knobs) -> Proposal:
        return Proposal(
            strategy=(
                f"Triton decoding, chunks for {knobs['programs']} programs a processor, "
                f"{knobs['block_n']} keys at a time, {knobs['warps']} warps, {knobs['stages']} stages"
            ),
            source=rendered(_TEMPLATE, attention=match, knobs=knobs),
            languages=(Language.TRITON,),
            destination_passing_style=True,
        )
