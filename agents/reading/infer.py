"""The kind of a term from the kinds of its arguments, one rule an operation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from agents.reading.kinds import Kind, Known, Scalar, Size, broadcast, promoted
from agents.reading.term import Term

if TYPE_CHECKING:
    from agents.reading.reading import Reading

Rule = Callable[["Reading", Term], Known]


def infer(reading: Reading, term: Term) -> Known:
    """None where nothing is known."""
    rule = _RULES.get(term.op)
    return rule(reading, term) if rule is not None else None


def sizes_of(reading: Reading, term: Term) -> tuple[Size, ...] | None:
    """The sizes that a term lists: `(batch, seq, 64)`, `x.shape`, or one number."""
    term = reading.look_through(term)
    if term.op == "tuple":
        return tuple(_size(reading, item) for item in term.args)
    if term.op == "attribute" and term.value == "shape":
        return reading.tensor(term.args[0]).shape
    single = _size(reading, term)
    return None if single is None else (single,)


def _size(reading: Reading, term: Term) -> Size:
    value = reading.scalar(term)
    return None if isinstance(value, float) or value == -1 else value


def axis_of(reading: Reading, term: Term, rank: int | None) -> int | None:
    """A dimension counted from the end, as a negative number."""
    value = reading.scalar(term)
    if not isinstance(value, int):
        return None
    return value if value < 0 else value - rank if rank is not None else None


def _name(reading: Reading, term: Term) -> Known:
    return reading.inputs.get(str(term.value))


def _const(reading: Reading, term: Term) -> Known:
    value = term.value
    return Scalar(value if isinstance(value, int | float) and not isinstance(value, bool) else None)


def _same(reading: Reading, term: Term) -> Known:
    kind = reading.kind(term.args[0])
    return Scalar() if isinstance(kind, Scalar) else kind


def _neg(reading: Reading, term: Term) -> Known:
    kind = reading.kind(term.args[0])
    if isinstance(kind, Scalar) and isinstance(kind.value, int | float):
        return Scalar(-kind.value)
    return _same(reading, term)


def _arithmetic(reading: Reading, term: Term) -> Known:
    first, second = reading.kind(term.args[0]), reading.kind(term.args[1])
    if isinstance(first, Scalar) and isinstance(second, Scalar):
        return Scalar(_number(term.op, first.value, second.value))
    return promoted(first, second)


def _number(op: str, first: Size | float, second: Size | float) -> int | float | None:
    if not isinstance(first, int | float) or not isinstance(second, int | float):
        return None
    try:
        return _NUMBERS[op](first, second) if op in _NUMBERS else None
    except (ZeroDivisionError, OverflowError):
        return None


_NUMBERS: dict[str, Callable[[float, float], float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
}


def _pow(reading: Reading, term: Term) -> Known:
    base = reading.kind(term.args[0])
    return Scalar() if isinstance(base, Scalar) else base


def _to(reading: Reading, term: Term) -> Known:
    base, target = reading.tensor(term.args[0]), reading.look_through(term.args[1])
    dtype = None
    if target.op == "dtype":
        dtype = str(target.value)
    elif target.op == "attribute" and target.value == "dtype":
        dtype = reading.tensor(target.args[0]).dtype
    return Kind(dtype, base.shape)


def _softmax(reading: Reading, term: Term) -> Known:
    dtype = reading.look_through(term.args[2])
    base = reading.tensor(term.args[0])
    return Kind(str(dtype.value), base.shape) if dtype.op == "dtype" else base


def _reduction(reading: Reading, term: Term) -> Known:
    base = reading.tensor(term.args[0])
    axis = axis_of(reading, term.args[1], base.rank)
    kept = reading.look_through(term.args[-1])
    if base.shape is None or axis is None or kept.value is not True:
        return Kind(base.dtype)
    shape = list(base.shape)
    shape[axis] = 1
    return Kind(base.dtype, tuple(shape))


def _matmul(reading: Reading, term: Term) -> Known:
    first, second = reading.tensor(term.args[0]), reading.tensor(term.args[1])
    if first.shape is None or second.shape is None or len(first.shape) < 2 or len(second.shape) < 2:
        return Kind(first.dtype)
    batch = broadcast(first.shape[:-2], second.shape[:-2]) or ()
    return Kind(first.dtype, (*batch, first.shape[-2], second.shape[-1]))


def _linear(reading: Reading, term: Term) -> Known:
    first, weight = reading.tensor(term.args[0]), reading.tensor(term.args[1])
    if first.shape is None or weight.shape is None:
        return Kind(first.dtype)
    return Kind(first.dtype, (*first.shape[:-1], weight.shape[0]))


def _transpose(reading: Reading, term: Term) -> Known:
    base = reading.tensor(term.args[0])
    axes = [axis_of(reading, arg, base.rank) for arg in term.args[1:]]
    first, second = axes
    if base.shape is None or first is None or second is None:
        return Kind(base.dtype)
    shape = list(base.shape)
    shape[first], shape[second] = shape[second], shape[first]
    return Kind(base.dtype, tuple(shape))


def _reshape(reading: Reading, term: Term) -> Known:
    return Kind(reading.tensor(term.args[0]).dtype, sizes_of(reading, term.args[1]))


def _arange(reading: Reading, term: Term) -> Known:
    dtype = reading.look_through(term.args[1])
    return Kind(str(dtype.value) if dtype.op == "dtype" else None, sizes_of(reading, term.args[0]) or (None,))


def _outer(reading: Reading, term: Term) -> Known:
    first, second = reading.tensor(term.args[0]), reading.tensor(term.args[1])
    sizes = [(kind.shape or (None,))[0] for kind in (first, second)]
    dtypes = promoted(Kind(first.dtype), Kind(second.dtype))
    return Kind(dtypes.dtype if isinstance(dtypes, Kind) else None, tuple(sizes))


def _unsqueeze(reading: Reading, term: Term) -> Known:
    base = reading.tensor(term.args[0])
    axis = reading.scalar(term.args[1])
    if base.shape is None or not isinstance(axis, int):
        return Kind(base.dtype)
    shape = list(base.shape)
    shape.insert(axis if axis >= 0 else len(shape) + 1 + axis, 1)
    return Kind(base.dtype, tuple(shape))


def _repeat_interleave(reading: Reading, term: Term) -> Known:
    base = reading.tensor(term.args[0])
    axis = axis_of(reading, term.args[2], base.rank)
    if base.shape is None or axis is None:
        return Kind(base.dtype)
    shape: list[Size] = list(base.shape)
    shape[axis] = None
    return Kind(base.dtype, tuple(shape))


def _cat(reading: Reading, term: Term) -> Known:
    parts = reading.look_through(term.args[0])
    if parts.op != "tuple" or not parts.args:
        return None
    first = reading.tensor(parts.args[0])
    axis = axis_of(reading, term.args[1], first.rank)
    if first.shape is None or axis is None:
        return Kind(first.dtype)
    along = [(reading.tensor(part).shape or (None,) * len(first.shape))[axis] for part in parts.args]
    numbers = [size for size in along if isinstance(size, int)]
    shape = list(first.shape)
    shape[axis] = sum(numbers) if len(numbers) == len(along) else None
    return Kind(first.dtype, tuple(shape))


def _index(reading: Reading, term: Term) -> Known:
    base = reading.look_through(term.args[0])
    index = reading.look_through(term.args[1])
    if base.op == "attribute" and base.value == "shape" and isinstance(index.value, int):
        shape = reading.tensor(base.args[0]).shape
        inside = shape is not None and -len(shape) <= index.value < len(shape)
        return Scalar(shape[index.value] if shape is not None and inside else None)
    if base.op == "chunk":
        return _chunk(reading, base)
    return _sliced(reading.tensor(base), index)


def _chunk(reading: Reading, term: Term) -> Known:
    base = reading.tensor(term.args[0])
    axis, parts = axis_of(reading, term.args[2], base.rank), reading.scalar(term.args[1])
    if base.shape is None or axis is None or not isinstance(parts, int):
        return Kind(base.dtype)
    shape: list[Size] = list(base.shape)
    whole = shape[axis]
    shape[axis] = whole // parts if isinstance(whole, int) and whole % parts == 0 else None
    return Kind(base.dtype, tuple(shape))


def _sliced(base: Kind, index: Term) -> Known:
    """Slices and new axes; an index by a number or a tensor leaves the shape unknown."""
    items = index.args if index.op == "tuple" else (index,)
    if base.shape is None or not all(_keeps_rank(item) for item in items):
        return Kind(base.dtype)
    used = sum(item.op == "slice" for item in items)
    whole: tuple[Size, ...] = base.shape
    shape: list[Size] = []
    for item in items:
        if item.op == "ellipsis":
            passed = len(whole) - used
            shape, whole = shape + list(whole[:passed]), whole[passed:]
        elif item.op == "slice":
            full = all(end.is_absent for end in item.args)
            shape, whole = [*shape, whole[0] if full else None], whole[1:]
            used -= 1
        else:
            shape = [*shape, 1]
    return Kind(base.dtype, (*shape, *whole))


def _keeps_rank(item: Term) -> bool:
    return item.op in ("slice", "ellipsis") or (item.op == "const" and item.value is None)


def _attention(reading: Reading, term: Term) -> Known:
    query, value = reading.tensor(term.args[0]), reading.tensor(term.args[2])
    if query.shape is None or value.shape is None:
        return Kind(query.dtype)
    return Kind(query.dtype, (*query.shape[:-1], value.shape[-1]))


def _call(reading: Reading, term: Term) -> Known:
    """Functions of `math` on numbers."""
    function = getattr(math, str(term.value).removeprefix("math."), None)
    if not str(term.value).startswith("math.") or not callable(function):
        return None
    values = [reading.scalar(arg) for arg in term.args]
    try:
        return Scalar(function(*values))
    except (TypeError, ValueError, OverflowError):
        return Scalar()


def _path(reading: Reading, term: Term) -> Known:
    """`math.pi`, `torch.inf`."""
    value = getattr(math, str(term.value).rpartition(".")[2], None)
    return Scalar(value) if isinstance(value, float) else None


def _addmm(reading: Reading, term: Term) -> Known:
    first, second = reading.tensor(term.args[1]), reading.tensor(term.args[2])
    if first.shape is None or second.shape is None:
        return Kind(first.dtype)
    return Kind(first.dtype, (*first.shape[:-1], second.shape[-1]))


def _masked(reading: Reading, term: Term) -> Known:
    return reading.kind(term.args[1] if term.op == "where" else term.args[0])


_RULES: dict[str, Rule] = {
    "name": _name, "const": _const, "to": _to, "softmax": _softmax, "matmul": _matmul, "linear": _linear,
    "transpose": _transpose, "reshape": _reshape, "expand": _reshape, "unsqueeze": _unsqueeze, "cat": _cat,
    "index": _index, "repeat_interleave": _repeat_interleave, "pow": _pow, "call": _call, "path": _path,
    "neg": _neg, "addmm": _addmm,
    "baddbmm": _addmm, "arange": _arange, "outer": _outer,
    "scaled_dot_product_attention": _attention, "masked_fill": _masked, "where": _masked,
    **dict.fromkeys(("add", "sub", "mul", "div", "floordiv"), _arithmetic),
    **dict.fromkeys(("mean", "sum", "amax", "var"), _reduction),
    **dict.fromkeys(
        ("rsqrt", "sqrt", "exp", "sigmoid", "silu", "gelu", "tanh", "contiguous", "clamp", "sin", "cos",
         "abs", "reciprocal", "rms_norm", "layer_norm", "triu", "tril", "not"),
        _same,
    ),
}  # fmt: skip
