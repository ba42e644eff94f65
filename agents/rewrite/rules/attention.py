"""softmax(scale * query @ key^T, masked) @ value, however it is spelled: `scaled_dot_product_attention`."""

from functools import partial

from agents.rewrite.program import Program, Ref
from agents.rewrite.rules.attention_call import (
    CALL,
    HALVES,
    attention_masking,
    attention_operands,
    attention_result,
)
from agents.rewrite.rules.attention_form import AttentionForm, attention_form
from agents.rewrite.rules.base import Rule, at_every
from agents.rewrite.rules.draft import Draft
from agents.rewrite.rules.masks import Masking


def fused(program: Program) -> Program | None:
    return at_every(program, partial(_at, narrow=False))


def narrowed(program: Program) -> Program | None:
    return at_every(program, partial(_at, narrow=True))


def _at(program: Program, name: str, narrow: bool) -> Program | None:
    form = attention_form(program, name, narrow)
    if form is None:
        return None
    masking = attention_masking(program, form)
    if not _types_agree(program, form, masking, narrow):
        return None
    draft = Draft(program)
    call = attention_operands(draft, form, masking)
    result = draft.op("attended", CALL, tuple(map(Ref, call.operands)), call.typed, **call.options)
    result = attention_result(draft, form, result)
    after = draft.done({name: draft.cast(result, program.types[name].dtype)})
    # weights or scores that something else reads are worked out all the same
    return None if form.scores.product in after.ops else after


def _types_agree(program: Program, form: AttentionForm, masking: Masking, narrow: bool) -> bool:
    """The call wants one element type and gives it back; anything else costs bits."""
    types = {program.types[side.name].dtype for side in (form.query, form.key, form.value)}
    biases = {program.types[mask.name].dtype for mask in masking.rest if mask.kind == "bias"}
    dtype = types.pop()
    if types or dtype not in (*HALVES, "float32"):
        return False
    return dtype in HALVES if narrow else program.types[form.out].dtype == dtype and biases <= {dtype}


FUSED = Rule("fused_attention", "reassociated", fused)
NARROW = Rule("narrow_attention", "lower-precision", narrowed)
