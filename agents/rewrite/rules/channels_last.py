"""Convolutions of images with the channels last in memory, which tensor cores take without turning anything.

What a fused kernel works out for a convolution is written in that layout at once.
"""

from agents.rewrite.cone import cone, is_fusible
from agents.rewrite.program import Op, Program, Ref
from agents.rewrite.rules.base import Rule
from agents.rewrite.rules.draft import Draft
from agents.rewrite.views import is_view

_LAST, _BACK = (0, 2, 3, 1), (0, 3, 1, 2)
_HELPER = '''
def _channels_last(x):
    """The same values, the channels last in memory."""
    return x.contiguous(memory_format=torch.channels_last)
'''


def apply(program: Program) -> Program | None:
    """Where a convolution is what the program returns, it is laid out as the reference has it."""
    names = [op.name for op in program.ops.values() if _is_image(program, op)]
    if not names:
        return None
    for name in names:
        program = _turned(program, name)
    return _plain_results(program)


def _is_image(program: Program, op: Op) -> bool:
    """One group, and enough channels on one side that the layout matters."""
    if op.base != "conv2d" or op.name not in program.types or len(program.types[op.name].shape) != 4:
        return False
    groups = op.args[6] if len(op.args) > 6 else None
    weight = program.types[op.args[1].name]
    return (groups is None or groups.constant == 1) and weight.dtype in ("float16", "bfloat16", "float32")


def _turned(program: Program, name: str) -> Program:
    draft = Draft(program)
    op = program.ops[name]
    x, weight = (_laid(draft, op.args[place].name) for place in (0, 1))
    typed = program.types[name]
    made = draft.op(f"{name}_last", "conv2d.default", (Ref(x), Ref(weight), *op.args[2:]), typed, **op.kwargs)
    return draft.done({name: made})


def _plain_results(program: Program) -> Program:
    """Results that a convolution's layout may reach, laid out as the reference has them."""
    for name in program.results:
        if name in program.types and any(
            program.ops[op].base == "conv2d" for op in cone(program, name, set())
        ):
            draft = Draft(program)
            laid = draft.op(f"{name}_plain", "laid_out.default", (Ref(name),), program.types[name])
            program = draft.done({name: laid})
    return program


def _laid(draft: Draft, name: str) -> str:
    op = draft.program.ops.get(name)
    typed = draft.types[name]
    if op is None or is_view(draft.program, op) or not is_fusible(draft.program, op):
        return draft.helper("_channels_last", _HELPER.lstrip(), (Ref(name),), typed)
    turned = draft.permute(name, _LAST)
    laid = draft.op(f"{name}_laid", "laid_out.default", (Ref(turned),), draft.types[turned])
    return draft.permute(laid, _BACK)


RULE = Rule("channels_last", "reassociated", apply)
