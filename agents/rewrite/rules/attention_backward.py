"""The gradients of an attention from queries, keys, values and the output's gradient: the library's backward pass.

It works the attention out again in pieces, so that neither scores nor weights are ever stored.
"""

from dataclasses import replace

from agents.rewrite.cone import cone
from agents.rewrite.program import Number, Program, Ref, Typed
from agents.rewrite.rules.arranging import arranged
from agents.rewrite.rules.attention_call import (
    HALVES,
    Call,
    attention_masking,
    attention_operands,
    groups_of,
    result_like,
    sizes_of,
)
from agents.rewrite.rules.attention_form import VALUE
from agents.rewrite.rules.backward_form import BackwardForm, Gradient, backward_forms
from agents.rewrite.rules.base import Rule
from agents.rewrite.rules.contraction import INNER, Label
from agents.rewrite.rules.draft import Draft
from agents.rewrite.rules.masks import Masking

_HELPER = '''
def _attention_gradients(query, key, value, grad, **options):
    """Of the query, the key and the value, by the library's backward pass, which works the attention out again."""
    with torch.enable_grad():
        inputs = [tensor.detach().requires_grad_() for tensor in (query, key, value)]
        output = F.scaled_dot_product_attention(*inputs, **options)
    return torch.autograd.grad(output, inputs, grad)
'''


def fused(program: Program) -> Program | None:
    return _everywhere(program, narrow=False)


def narrowed(program: Program) -> Program | None:
    return _everywhere(program, narrow=True)


def _everywhere(program: Program, narrow: bool) -> Program | None:
    for form in backward_forms(program, narrow):
        after = _at(program, form, narrow)
        if after is not None:
            return _everywhere(after, narrow) or after
    return None


def _at(program: Program, form: BackwardForm, narrow: bool) -> Program | None:
    masking = attention_masking(program, form.forward)
    if not _types_agree(program, form, masking, narrow) or _turns_back(program, form, masking):
        return None
    draft = Draft(program)
    call = attention_operands(draft, form.forward, masking, may_group=False)
    grad = _grad(draft, form, call)
    helper = draft.helper(
        "_attention_gradients", _HELPER.lstrip(), (*map(Ref, call.operands), Ref(grad)), None, **call.options
    )
    names = {gradient.out: _gradient(draft, form, call, helper, gradient) for gradient in form.gradients}
    after = draft.done(names)
    return None if form.forward.scores.product in after.ops else after


def _turns_back(program: Program, form: BackwardForm, masking: Masking) -> bool:
    """Whether the call would need one of its own results."""
    sides = (form.forward.query, form.forward.key, form.forward.value, form.grad)
    needed = [*(side.name for side in sides), *(mask.name for mask in masking.rest)]
    outs = {gradient.out for gradient in form.gradients}
    return any(outs & set(cone(program, name, set())) for name in needed)


def _grad(draft: Draft, form: BackwardForm, call: Call) -> str:
    groups = groups_of(form.forward)
    grad = replace(form.grad, name=draft.cast(form.grad.name, call.typed.dtype))
    return arranged(draft, grad, (*groups, (form.forward.rows,), (VALUE,)), sizes_of(form.forward), groups)


def _gradient(draft: Draft, form: BackwardForm, call: Call, helper: str, gradient: Gradient) -> str:
    """One of the three, with the dimensions, the factor and the type that the program has it with."""
    place = ("query", "key", "value").index(gradient.of)
    operand = call.operands[place]
    typed = Typed(draft.types[operand].shape, draft.types[operand].dtype)
    name = draft.part(helper, place, typed, f"grad_of_{gradient.of}")
    rows: Label = form.forward.rows if gradient.of == "query" else len(form.forward.shape) - 1
    name = result_like(draft, form.forward, name, (rows, gradient.labels), gradient.out)
    name = draft.cast(name, draft.program.types[gradient.out].dtype)
    if all(abs(factor - 1.0) < 1e-6 for factor in gradient.factor):
        return name
    return draft.op("scaled", "mul.Tensor", (Ref(name), Number(gradient.factor)), draft.types[name])


def _types_agree(program: Program, form: BackwardForm, masking: Masking, narrow: bool) -> bool:
    forward = form.forward
    types = {program.types[side.name].dtype for side in (forward.query, forward.key, forward.value)}
    dtype = types.pop()
    biases = {program.types[mask.name].dtype for mask in masking.rest if mask.kind == "bias"}
    if types or None in (*forward.query.labels, *forward.key.labels, *forward.value.labels):
        return False
    if not all(_is_whole(forward.batch, side.labels) for side in (forward.query, forward.key, forward.value)):
        return False
    if narrow:
        return dtype in HALVES
    outs = {program.types[gradient.out].dtype for gradient in form.gradients}
    return outs == {dtype, program.types[form.grad.name].dtype} and biases <= {dtype}


def _is_whole(batch: tuple[int, ...], labels: tuple[Label, ...]) -> bool:
    """A side that is shared by heads has a gradient that is summed over them, which is not looked for."""
    return set(batch) <= set(labels) and (INNER in labels or VALUE in labels)


FUSED = Rule("attention_gradients", "reassociated", fused)
NARROW = Rule("narrow_attention_gradients", "lower-precision", narrowed)
