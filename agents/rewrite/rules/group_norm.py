"""A group normalisation as sums over pieces of a group, joined, and then element by element with what follows.

The pieces' means and squares about them are joined as Chan, Golub and LeVeque do (1979), so nothing cancels.
"""

from agents.rewrite.program import Number, Op, Program, Ref, Typed, Vector, product
from agents.rewrite.rows import LONGEST
from agents.rewrite.rules.base import Rule
from agents.rewrite.rules.draft import Draft


def apply(program: Program) -> Program | None:
    names = [op.name for op in program.ops.values() if _is_usable(program, op)]
    if not names:
        return None
    for name in names:
        program = _spelled(program, name)
    return program


def _is_usable(program: Program, op: Op) -> bool:
    if op.base != "group_norm" or op.name not in program.types or len(op.args) < 2:
        return False
    typed = program.types[op.args[0].name]
    return len(typed.shape) > 2 and op.args[1].constant is not None and max(typed.shape[-1]) <= LONGEST


def _spelled(program: Program, name: str) -> Program:
    draft = Draft(program)
    op, typed = program.ops[name], program.types[name]
    x = draft.cast(op.args[0].name, "float32")
    groups = draft.program.one(int(op.args[1].constant))
    mean, scale = _statistics(draft, x, groups, _epsilon(op))
    for wish, target, side in (("centred", "sub.Tensor", mean), ("normed", "mul.Tensor", scale)):
        x = _with(draft, wish, target, x, _by_channel(draft, side, typed))
    for place, wish, target in ((2, "weighted", "mul.Tensor"), (3, "shifted", "add.Tensor")):
        if len(op.args) > place and isinstance(op.args[place], Ref):
            side = draft.cast(op.args[place].name, "float32")
            ones = (draft.program.one(),) * (len(typed.shape) - 2)
            x = _with(draft, wish, target, x, draft.reshape(side, (typed.shape[1], *ones)))
    return draft.done({name: draft.cast(x, typed.dtype)})


def _epsilon(op: Op) -> Number:
    given = op.args[4] if len(op.args) > 4 else op.kwargs.get("eps")
    return given if isinstance(given, Number) else Number((1e-5,))


def _statistics(draft: Draft, x: str, groups: Vector, epsilon: Number) -> tuple[str, str]:
    """Mean and reciprocal deviation of every group, `[batch, groups, 1]`."""
    batch, channels, *sizes = draft.types[x].shape
    workloads = draft.program.workloads
    whole = product(tuple(sizes), workloads)
    length = whole if max(whole) <= LONGEST else sizes[-1]
    parts = product((channels, *sizes), workloads)
    rows = draft.reshape(x, (batch, tuple(p // n for p, n in zip(parts, length, strict=True)), length))
    mean = _row(draft, "mean_of_part", "mean.dim", rows)
    centred = _with(draft, "about", "sub.Tensor", rows, mean)
    squares = _row(draft, "squares_of_part", "sum.dim_IntList", _squared(draft, centred))
    in_group = (batch, groups, tuple(p // n // g for p, n, g in zip(parts, length, groups, strict=True)))
    mean, squares = draft.reshape(mean, in_group), draft.reshape(squares, in_group)
    middle = _row(draft, "mean_of_group", "mean.dim", mean)
    off = _squared(draft, _with(draft, "off", "sub.Tensor", mean, middle))
    between = _times(draft, _row(draft, "between", "sum.dim_IntList", off), length)
    total = _with(draft, "squares", "add.Tensor", _row(draft, "within", "sum.dim_IntList", squares), between)
    count = tuple(p // g for p, g in zip(parts, groups, strict=True))
    typed = draft.types[total]
    variance = draft.op("variance", "div.Tensor", (Ref(total), Number(count)), typed)
    raised = draft.op("raised", "add.Tensor", (Ref(variance), epsilon), typed)
    return middle, draft.op("deviation", "rsqrt.default", (Ref(raised),), typed)


def _row(draft: Draft, wish: str, target: str, name: str) -> str:
    typed = draft.types[name]
    args = (Ref(name), (draft.number(-1),), True)
    return draft.op(wish, target, args, Typed((*typed.shape[:-1], draft.program.one()), typed.dtype))


def _squared(draft: Draft, name: str) -> str:
    return draft.op("squared", "mul.Tensor", (Ref(name), Ref(name)), draft.types[name])


def _times(draft: Draft, name: str, number: Vector) -> str:
    return draft.op("scaled", "mul.Tensor", (Ref(name), Number(number)), draft.types[name])


def _with(draft: Draft, wish: str, target: str, one: str, two: str) -> str:
    return draft.op(wish, target, (Ref(one), Ref(two)), draft.types[one])


def _by_channel(draft: Draft, name: str, typed: Typed) -> str:
    """One value a group spread to the group's channels."""
    batch, groups, one = draft.types[name].shape
    channels = typed.shape[1]
    each = tuple(c // g for c, g in zip(channels, groups, strict=True))
    spread = draft.expand(name, (batch, groups, each))
    return draft.reshape(spread, (batch, channels, *(one for _ in typed.shape[2:])))


RULE = Rule("group_norm_by_parts", "reassociated", apply)
