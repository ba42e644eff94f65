"""fp32 products of widened operands: in the narrow type on tensor cores, with sums and result in fp32 as before.

Products of two bf16 or fp16 numbers are exact in fp32, and int8 and fp8 are exact in either. Scales that do not vary
along the summed dimension are applied to the result, where they fuse with what follows.
"""

from dataclasses import dataclass, replace

from agents.rewrite.program import Op, Program, Ref, Typed, Vector, product
from agents.rewrite.rules.arranging import arranged
from agents.rewrite.rules.base import Rule, at_every
from agents.rewrite.rules.contraction import INNER, Contraction, Label, Operand, contraction, turned
from agents.rewrite.rules.draft import Draft
from agents.rewrite.rules.views import CASTS

_HALVES = ("bfloat16", "float16")
_EXACT_IN_BOTH = ("int8", "float8_e4m3fn", "float8_e5m2")
_HELPER = '''
def _wide_product(first, second):
    """The product of half precision matrices in fp32, in which theirs are exact and tensor cores sum them."""
    if not first.is_cuda:
        return first.float() @ second.float()
    multiply = torch.mm if first.dim() == 2 else torch.bmm
    return multiply(first, second, out_dtype=torch.float32)
'''


@dataclass(frozen=True)
class _Scale:
    name: str
    labels: tuple[Label, ...]
    target: str


@dataclass(frozen=True)
class _Narrow:
    """An operand before it was widened and scaled."""

    operand: Operand
    scales: tuple[_Scale, ...]


def apply(program: Program) -> Program | None:
    return at_every(program, _at)


def _at(program: Program, name: str) -> Program | None:
    whole = contraction(program, name)
    if whole is None or program.types[name].dtype != "float32":
        return None
    sides = [_narrow(program, side) for side in (whole.first, whole.second)]
    if sides[0] is None or sides[1] is None:
        return None
    first, second = sides[0], sides[1]
    dtype = _common(program, first.operand.name, second.operand.name)
    if dtype is None or None in (*first.operand.labels, *second.operand.labels):
        return None
    return _written(program, name, whole, (first, second), dtype)


def _common(program: Program, first: str, second: str) -> str | None:
    types = [program.types[name].dtype for name in (first, second)]
    halves = {dtype for dtype in types if dtype in _HALVES}
    if any(dtype not in (*_HALVES, *_EXACT_IN_BOTH) for dtype in types) or len(halves) > 1:
        return None
    return halves.pop() if halves else "bfloat16"


def _narrow(program: Program, given: Operand) -> _Narrow | None:
    """None where a value is widened from no narrow one, or a scale varies along the summed dimension."""
    scales: list[_Scale] = []
    while True:
        given = turned(program, given, casts=False)
        op = program.ops.get(given.name)
        if op is None or given.shape != program.types[given.name].shape:
            return None
        if op.base in CASTS and op.target != "view.dtype":
            source = op.reads[0]
            is_wide = program.types[source].dtype == program.types[given.name].dtype
            given = replace(given, name=source)
            if is_wide:
                continue
            return _Narrow(turned(program, given, casts=False), tuple(scales))
        scale = _scale(program, op, given)
        if scale is None:
            return None
        given, found = scale
        scales.append(found)


def _scale(program: Program, op: Op, given: Operand) -> tuple[Operand, _Scale] | None:
    if op.base not in ("mul", "div") or "rounding_mode" in op.kwargs:
        return None
    for one, other in ((0, 1), (1, 0)):
        if not (isinstance(op.args[one], Ref) and isinstance(op.args[other], Ref)) or (
            one and op.base == "div"
        ):
            continue
        side, scale = op.args[one].name, op.args[other].name
        shape = program.types[scale].shape
        labels = _aligned(given, shape)
        if program.types[side].shape == given.shape and INNER not in labels:
            return replace(given, name=side), _Scale(scale, labels, f"{op.base}.Tensor")
    return None


def _aligned(given: Operand, shape: tuple[Vector, ...]) -> tuple[Label, ...]:
    """Labels of what is spread over the operand; None where it has one value for all."""
    own = given.labels[len(given.labels) - len(shape) :]
    return tuple(None if set(size) == {1} else label for size, label in zip(shape, own, strict=True))


def _written(
    program: Program, name: str, whole: Contraction, sides: tuple[_Narrow, _Narrow], dtype: str
) -> Program | None:
    draft, typed = Draft(program), program.types[name]
    first, second = (replace(s.operand, name=draft.cast(s.operand.name, dtype)) for s in sides)
    batch = [label for label in range(whole.rank) if label in first.labels and label in second.labels]
    rows = tuple(label for label in first.labels if isinstance(label, int) and label not in batch)
    columns = tuple(label for label in second.labels if isinstance(label, int) and label not in batch)
    if (*batch, *rows, *columns) != tuple(range(whole.rank)):
        return None
    lead = (tuple(batch),) if batch else ()
    sizes: dict[Label, Vector] = dict(enumerate(typed.shape))
    left = arranged(draft, first, (*lead, rows, (INNER,)), sizes, ())
    right = arranged(draft, second, (*lead, (INNER,), columns), sizes, ())
    shape = tuple(
        product(tuple(sizes[label] for label in group), program.workloads) for group in (*lead, rows, columns)
    )
    made = _product(
        draft, name, (left, right), Typed(shape, "float32"), bool(sides[0].scales or sides[1].scales)
    )
    result = draft.reshape(made, typed.shape)
    for scale in (*sides[0].scales, *sides[1].scales):
        result = _scaled(draft, result, scale, whole.rank)
    return draft.done({name: draft.cast(result, "float32")})


def _product(draft: Draft, name: str, operands: tuple[str, str], typed: Typed, is_scaled: bool) -> str:
    """In the narrow type where the result is rounded to it at once anyway."""
    program = draft.program
    narrow = draft.types[operands[0]].dtype
    readers = [op for op in program.ops.values() if name in op.reads]
    rounded = all(op.base in ("to", "_to_copy") and program.types[op.name].dtype == narrow for op in readers)
    args = tuple(map(Ref, operands))
    if rounded and not is_scaled and name not in program.results:
        target = "mm.default" if len(typed.shape) == 2 else "bmm.default"
        return draft.op("narrow_product", target, args, replace(typed, dtype=narrow))
    return draft.helper("_wide_product", _HELPER.lstrip(), args, typed)


def _scaled(draft: Draft, name: str, scale: _Scale, rank: int) -> str:
    labels = tuple((label,) for label in range(rank))
    shape = draft.types[scale.name].shape
    side = arranged(draft, Operand(scale.name, scale.labels, shape), labels, {}, ())
    return draft.op("rescaled", scale.target, (Ref(name), Ref(side)), draft.types[name])


RULE = Rule("wide_product", "reassociated", apply)
