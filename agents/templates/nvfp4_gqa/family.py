"""The family of attention over an NVFP4 cache."""

from pathlib import Path

from agents.proposal import Proposal
from agents.templates.base import Knobs, KnobSpace
from agents.templates.nvfp4_gqa.form import Nvfp4Gqa
from agents.templates.nvfp4_gqa.knobs import nvfp4_gqa_knobs
from agents.templates.nvfp4_gqa.recognise import recognise
from agents.templates.source import rendered
from tasks.solution import Language
from tasks.task import Task

_TEMPLATE = Path(__file__).parent / "kernel.py.j2"


class Nvfp4GqaFamily:
    """Bound by reading the cache, and next by decoding it: about six operations a value."""

    name = "nvfp4_gqa"
    numerics = (
        "Codes times block scales are exact in fp16; products are summed in fp32 and multiplied by the tensor "
        "scales afterwards. Heads are rounded to bf16 as in the reference. Queries are used in fp16, 2^6 times "
        "smaller, attention weights in fp16 for the cache and in bf16 for the new tokens; the reference keeps both in "
        "fp32. Chunks are merged in fp32, always in the same order."
    )

    def matches(self, task: Task) -> Nvfp4Gqa | None:
        return recognise(task)

    def knobs(self, match: Nvfp4Gqa) -> KnobSpace:
        return nvfp4_gqa_knobs(match)

    def render(self, match: Nvfp4Gqa, knobs: Knobs) -> Proposal:
        return Proposal(
            strategy=(
                f"Triton attention over NVFP4 decoded in registers, {knobs['block_n']} keys at a time, "
                f"{knobs['warps']} warps, {knobs['stages']} stages, {knobs['programs']} programs a processor; "
                f"heads by {knobs['head_columns']} x {knobs['head_bytes']} bytes, {knobs['head_stages']} stages"
            ),
            source=rendered(_TEMPLATE, gqa=match, knobs=knobs),
            languages=(Language.TRITON,),
            destination_passing_style=True,
        )
