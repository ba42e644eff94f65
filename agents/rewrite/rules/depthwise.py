"""A depthwise convolution over time with few taps: that many products, which fuse with what stands around them."""

from agents.rewrite.program import Number, Op, Program, Ref, Typed
from agents.rewrite.rules.base import Rule
from agents.rewrite.rules.draft import Draft
from agents.rewrite.rules.turned_results import laid_as_returned

_MOST = 8
"""Taps; more are better left to the library."""


def apply(program: Program) -> Program | None:
    """Sums are in fp32, as the library keeps them, and rounded once."""
    names = [op.name for op in program.ops.values() if _is_depthwise(program, op)]
    if not names:
        return None
    for name in names:
        program = _spelled(program, name)
    return laid_as_returned(program)


def _is_depthwise(program: Program, op: Op) -> bool:
    if op.base != "conv1d" or len(op.args) < 7 or op.name not in program.types:
        return False
    x, weight = (program.types[op.args[place].name] for place in (0, 1))
    stride, dilation = (_number(op.args[place]) for place in (3, 5))
    taps = weight.shape[-1]
    few = len(set(taps)) == 1 and taps[0] <= _MOST and _number(op.args[4]) is not None
    channels = x.shape[1] if len(x.shape) == 3 else None
    one_each = weight.shape[:2] == (channels, program.one()) and op.args[6].values == channels
    return few and one_each and stride == dilation == 1 and x.dtype in ("float32", "float16", "bfloat16")


def _number(argument: object) -> int | None:
    item = argument[0] if isinstance(argument, tuple) and len(argument) == 1 else None
    return int(item.constant) if isinstance(item, Number) and item.constant is not None else None


def _spelled(program: Program, name: str) -> Program:
    draft = Draft(program)
    op, typed = program.ops[name], program.types[name]
    wide = Typed(typed.shape, "float32")
    x = _padded(draft, op.args[0].name, _number(op.args[4]) or 0)
    total: str | None = None
    taps = program.types[op.args[1].name].shape[-1][0]
    for tap in range(taps):
        args = (Ref(_shifted(draft, x, tap, taps, typed)), Ref(_weight(draft, op.args[1].name, tap)))
        product = draft.op("product", "mul.Tensor", args, wide)
        args = (Ref(total or product), Ref(product))
        total = product if total is None else draft.op("total", "add.Tensor", args, wide)
    assert total is not None
    if isinstance(op.args[2], Ref):
        total = draft.op("total", "add.Tensor", (Ref(total), Ref(_bias(draft, op.args[2].name))), wide)
    return draft.done({name: draft.cast(total, typed.dtype)})


def _padded(draft: Draft, name: str, padding: int) -> str:
    if padding == 0:
        return name
    typed = draft.types[name]
    longer = tuple(size + 2 * padding for size in typed.shape[-1])
    sizes = (draft.number(padding), draft.number(padding))
    return draft.op(
        "padded", "pad.default", (Ref(name), sizes), Typed((*typed.shape[:-1], longer), typed.dtype)
    )


def _shifted(draft: Draft, name: str, tap: int, taps: int, typed: Typed) -> str:
    later = taps - 1 - tap
    bounds = (draft.number(tap), draft.number(-later if later else 2**63 - 1))
    args = (Ref(name), draft.number(2), *bounds)
    part = Typed(typed.shape, draft.types[name].dtype)
    return draft.cast(draft.op(f"shifted_{tap}", "slice.Tensor", args, part), "float32")


def _weight(draft: Draft, name: str, tap: int) -> str:
    typed = draft.types[name]
    args = (Ref(name), draft.number(2), draft.number(tap), draft.number(1))
    part = Typed((*typed.shape[:-1], draft.program.one()), typed.dtype)
    column = draft.op(f"tap_{tap}", "narrow.default", args, part)
    return draft.cast(draft.reshape(column, (typed.shape[0], draft.program.one())), "float32")


def _bias(draft: Draft, name: str) -> str:
    return draft.cast(draft.reshape(name, (draft.types[name].shape[0], draft.program.one())), "float32")


RULE = Rule("depthwise_taps", "reassociated", apply)
