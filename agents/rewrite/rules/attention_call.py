"""An attention that was found, written as the library's call."""

from dataclasses import dataclass

from agents.rewrite.program import Number, Program, Ref, Typed, Vector
from agents.rewrite.rules.arranging import Groups, arranged
from agents.rewrite.rules.attention_form import VALUE, AttentionForm, repeated
from agents.rewrite.rules.contraction import INNER, Label, Operand
from agents.rewrite.rules.draft import Draft
from agents.rewrite.rules.masks import Masking, mask_value, masking

HALVES = ("bfloat16", "float16")
CALL = "scaled_dot_product_attention.default"


@dataclass(frozen=True)
class Call:
    """Operands of four dimensions, and the options as keyword arguments."""

    operands: tuple[str, str, str]
    options: dict[str, object]
    typed: Typed


def attention_masking(program: Program, form: AttentionForm) -> Masking:
    return masking(program, form.scores.masks, form.shape[form.rows], form.shape[-1])


def attention_operands(draft: Draft, form: AttentionForm, found: Masking, may_group: bool = True) -> Call:
    """Queries, keys and values of one type; heads are left to the library to repeat where that keeps it fast."""
    program = draft.program
    dtype = draft.types[form.query.name].dtype
    # with a mask to add, or in fp32, the library repeats heads only where it spells attention out
    grouped = may_group and dtype in HALVES and not found.rest
    key, value, is_grouped = _keys_and_values(program, form, grouped)
    groups, sizes = groups_of(form), sizes_of(form)
    q = arranged(draft, form.query, (*groups, (form.rows,), (INNER,)), sizes, groups)
    spread: Groups = groups[:1] if is_grouped else groups
    last = len(form.shape) - 1
    k = arranged(draft, key, (*groups, (last,), (INNER,)), sizes, spread)
    v = arranged(draft, value, (*groups, (last,), (VALUE,)), sizes, spread)
    options: dict[str, object] = {}
    mask = _mask(draft, form, found, dtype)
    if mask is not None:
        options["attn_mask"] = Ref(mask)
    if found.is_causal:
        options["is_causal"] = True
    options["scale"] = Number(form.scores.factor)
    if is_grouped:
        options["enable_gqa"] = True
    return Call((q, k, v), options, Typed((*draft.types[q].shape[:3], draft.types[v].shape[3]), dtype))


def attention_result(draft: Draft, form: AttentionForm, name: str) -> str:
    """What the call gave, with the dimensions of `form.out`."""
    return result_like(draft, form, name, (form.rows, form.labels), form.out)


def result_like(
    draft: Draft, form: AttentionForm, name: str, rows_and_labels: tuple[Label, tuple[Label, ...]], out: str
) -> str:
    """A result of four dimensions, the third of them `rows`, with those of `out`, which are `labels`."""
    rows, labels = rows_and_labels
    (batch, heads), sizes = groups_of(form), sizes_of(form)
    order: list[Label] = [*batch, *heads, rows, VALUE]
    shape = (*(sizes[label] for label in order[:-1]), draft.types[name].shape[-1])
    name = draft.reshape(name, shape)
    name = draft.permute(name, tuple(order.index(label) for label in labels))
    return draft.reshape(name, draft.types[out].shape)


def _keys_and_values(program: Program, form: AttentionForm, grouped: bool) -> tuple[Operand, Operand, bool]:
    if not grouped:
        return form.key, form.value, False
    heads = groups_of(form)[1]
    key, value = repeated(program, form.key), repeated(program, form.value)
    if key is not None and value is not None and len(heads) == 1:
        sizes = [side.shape[side.labels.index(heads[0])] for side in (key, value) if heads[0] in side.labels]
        if len(sizes) == 2 and sizes[0] == sizes[1]:
            return key, value, True
    lacks = bool(heads) and all(heads[-1] not in side.labels for side in (form.key, form.value))
    return form.key, form.value, lacks


def groups_of(form: AttentionForm) -> tuple[tuple[Label, ...], tuple[Label, ...]]:
    """Labels for the batch and for the heads; keys that lack the last one stand for a group of heads."""
    labels = form.batch
    lacking = labels and all(labels[-1] not in side.labels for side in (form.key, form.value))
    own = 2 if len(labels) > 1 and lacking and labels[-2] in form.key.labels else 1
    return labels[:-own], labels[-own:]


def sizes_of(form: AttentionForm) -> dict[Label, Vector]:
    return dict(enumerate(form.shape))


def _mask(draft: Draft, form: AttentionForm, found: Masking, dtype: str) -> str | None:
    if not found.rest:
        return None
    name = mask_value(draft, found.rest, dtype)
    if name is None:
        return None
    shape = draft.types[name].shape
    first = len(form.shape) - len(shape)
    labels: tuple[Label, ...] = tuple(
        None if set(size) == {1} and set(form.shape[first + place]) != {1} else first + place
        for place, size in enumerate(shape)
    )
    last = len(form.shape) - 1
    if len(shape) == 2 and form.rows == last - 1:
        return name
    groups = (*groups_of(form), (form.rows,), (last,))
    return arranged(draft, Operand(name, labels, shape), groups, sizes_of(form), ())
