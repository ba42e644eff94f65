"""The kind of a term from the kinds of its arguments, one rule an operation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from agents.reading import moving
from agents.reading.kinds import Kind, Known, Scalar, Size, broadcast, promoted
from agents.reading.sizes import axis_of
from agents.reading.term import Term

if TYPE_CHECKING:
    from agents.reading.reading import Reading

Rule = Callable[["Reading", Term], Known]


def infer(reading: Reading, term: Term) -> Known:
    """None where nothing is known."""
    rule = _RULES.get(term.op)
    return rule(reading, term) if rule is not None else None


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
    "name": _name,
    "const": _const,
    "to": _to,
    "softmax": _softmax,
    "matmul": _matmul,
    "linear": _linear,
    "transpose": moving.transpose,
    "reshape": moving.reshape,
    "expand": moving.reshape,
    "unsqueeze": moving.unsqueeze,
    "cat": moving.cat,
    "index": moving.index,
    "repeat_interleave": moving.repeat_interleave,
    "pow": _pow,
    "call": _call,
    "path": _path,
    "neg": _neg,
    "addmm": _addmm,
    "baddbmm": _addmm,
    "arange": moving.arange,
    "outer": moving.outer,
    "scaled_dot_product_attention": _attention,
    "masked_fill": _masked,
    "where": _masked,
    **dict.fromkeys(("add", "sub", "mul", "div", "floordiv"), _arithmetic),
    **dict.fromkeys(("mean", "sum", "amax", "var"), _reduction),
    **dict.fromkeys(
        (
            "rsqrt",
            "sqrt",
            "exp",
            "sigmoid",
            "silu",
            "gelu",
            "tanh",
            "contiguous",
            "clamp",
            "sin",
            "cos",
            "abs",
            "reciprocal",
            "rms_norm",
            "layer_norm",
            "triu",
            "tril",
            "not",
        ),
        _same,
    ),
}
