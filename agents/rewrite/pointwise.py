"""Element-wise operations as Triton expressions, in the precision in which ATen computes them.

Floating point values are held in fp32 and rounded to their own type as soon as they are made, as ATen rounds them when
it stores them. A division is exact where the reference divides, since a quantisation may hang on its last bit; inside
an activation or a mean it is as the compiler likes it.
"""

from collections.abc import Callable
from typing import Any

from agents.rewrite.program import Number, Op, Program, Ref

FLOATS = {"float32", "float16", "bfloat16"}
INTS = {"int64", "int32", "int16", "int8", "uint8"}
SUPPORTED = FLOATS | INTS | {"bool", "float8_e4m3fn"}
TL = {
    "float32": "tl.float32", "float16": "tl.float16", "bfloat16": "tl.bfloat16", "int64": "tl.int64",
    "int32": "tl.int32", "int16": "tl.int16", "int8": "tl.int8", "uint8": "tl.uint8", "bool": "tl.int1",
    "float8_e4m3fn": "tl.float8e4nv",
}  # fmt: skip
"""Triton's names of element types."""

_UNARY: dict[str, str] = {
    "neg": "-{0}", "abs": "tl.abs({0})", "exp": "tl.exp({0})", "exp2": "tl.exp2({0})", "log": "tl.log({0})",
    "log2": "tl.log2({0})", "sqrt": "tl.sqrt_rn({0})", "rsqrt": "tl.rsqrt({0})",
    "reciprocal": "tl.div_rn(1.0, {0})", "square": "{0} * {0}", "sin": "tl.sin({0})", "cos": "tl.cos({0})",
    "sigmoid": "1.0 / (1.0 + tl.exp(-{0}))", "silu": "{0} / (1.0 + tl.exp(-{0}))",
    "relu": "tl.where({0} < 0.0, 0.0, {0})", "floor": "tl.floor({0})", "ceil": "tl.ceil({0})",
    "tanh": "1.0 - 2.0 / (tl.exp(2.0 * {0}) + 1.0)", "erf": "tl.erf({0})",
    "softplus": "tl.where({0} > 20.0, {0}, tl.log(1.0 + tl.exp({0})))",
    "log_sigmoid": "tl.where({0} < 0.0, {0}, 0.0) - tl.log(1.0 + tl.exp(-tl.abs({0})))",
    "elu": "tl.where({0} > 0.0, {0}, tl.exp({0}) - 1.0)",
}  # fmt: skip
_BINARY: dict[str, str] = {
    "add": "{0} + {1}", "sub": "{0} - {1}", "mul": "{0} * {1}", "div": "tl.div_rn({0}, {1})",
    "maximum": "tl.where(({0} > {1}) | ({0} != {0}), {0}, {1})",
    "minimum": "tl.where(({0} < {1}) | ({0} != {0}), {0}, {1})",
}  # fmt: skip
_BINARY |= {"max": _BINARY["maximum"], "min": _BINARY["minimum"]}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_BITS = {
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "logical_and": "&", "logical_or": "|", "__and__": "&",
    "__or__": "|", "__rshift__": ">>", "__lshift__": "<<", "bitwise_right_shift": ">>", "bitwise_left_shift": "<<",
}  # fmt: skip
_GELU = {
    "none": "0.5 * {0} * (1.0 + tl.erf({0} * 0.7071067811865476))",
    "tanh": "0.5 * {0} * (2.0 - 2.0 / (tl.exp(1.5957691216057308 * ({0} + 0.044715 * {0} * {0} * {0})) + 1.0))",
}
_CASTS = {"to", "_to_copy", "contiguous", "clone", "type_as", "float", "half", "bfloat16", "laid_out"}
CHEAP = {*_CASTS, "neg", "add", "sub", "mul", "where", "masked_fill", *_COMPARISONS, *_BITS, "abs"}
"""Done again rather than stored and read."""


def is_pointwise(program: Program, op: Op) -> bool:
    """Whether `expression` knows it, for these types and arguments."""
    typed = program.types.get(op.name)
    if typed is None or typed.dtype not in SUPPORTED or _is_out_of_reach(program, op):
        return False
    kinds = [program.types[name].dtype for name in op.reads if name in program.types]
    if any(kind not in SUPPORTED for kind in kinds) or len(kinds) != len(op.reads):
        return False
    return _KNOWN[op.base](op, typed.dtype, kinds) if op.base in _KNOWN else False


def expression(op: Op, dtype: str, operands: list[tuple[str, str]]) -> str:
    """The result, not yet rounded to `dtype`; `operands` as (text, dtype) in the order of `tensor_arguments`."""
    if op.base in _CASTS:
        return converted(operands[0][0], operands[0][1], dtype)
    if op.base in _COMPARISONS:
        return f"({operands[0][0]} {_COMPARISONS[op.base]} {operands[1][0]})"
    if op.base in _BITS:
        return f"({operands[0][0]} {_BITS[op.base]} {operands[1][0]})"
    if op.base in ("where", "masked_fill"):
        return _chosen(op, dtype, operands)
    if op.base in ("logical_not", "bitwise_not"):
        return f"({operands[0][0]} == 0)"
    texts = [converted(text, kind, _computed_in(dtype)) for text, kind in operands]
    return _computed(op, texts)


def tensor_arguments(op: Op) -> tuple[Any, ...]:
    """The arguments that are operands: tensors, and numbers that stand in the place of one."""
    if (
        op.base in _CASTS
        or op.base in _UNARY
        or op.base in ("gelu", "clamp", "clamp_min", "clamp_max", "pow")
    ):
        return op.args[:1]
    if op.base in ("where", "masked_fill"):
        return op.args[:3]
    if op.base in ("logical_not", "bitwise_not"):
        return op.args[:1]
    return op.args[:2]


def _computed(op: Op, texts: list[str]) -> str:
    first = texts[0]
    if op.base in _UNARY:
        return _UNARY[op.base].format(first)
    if op.base in ("add", "sub", "rsub"):
        alpha = op.kwargs.get("alpha", op.args[2] if len(op.args) > 2 else None)
        second = texts[1] if alpha is None or alpha.constant == 1 else f"{texts[1]} * {alpha.constant!r}"
        return f"{second} - {first}" if op.base == "rsub" else _BINARY[op.base].format(first, second)
    if op.base in _BINARY:
        return _BINARY[op.base].format(*texts)
    if op.base == "gelu":
        return _GELU[str(op.kwargs.get("approximate", "none"))].format(first)
    if op.base == "pow":
        return _POWERS[float(op.args[1].constant)].format(first)
    return _clamped(op, first)


_POWERS = {
    2.0: "{0} * {0}", 3.0: "{0} * {0} * {0}", 0.5: "tl.sqrt_rn({0})", -0.5: "tl.rsqrt({0})",
    -1.0: "tl.div_rn(1.0, {0})", 1.0: "{0}",
}  # fmt: skip


def _clamped(op: Op, text: str) -> str:
    """NaN stays NaN: comparisons with it are false."""
    low, high = clamp_limits(op)
    if low is not None:
        text = f"tl.where({text} < {low!r}, {low!r}, {text})"
    if high is not None:
        text = f"tl.where({text} > {high!r}, {high!r}, {text})"
    return text


def clamp_limits(op: Op) -> tuple[float | None, float | None]:
    low = op.kwargs.get("min", op.args[1] if len(op.args) > 1 and op.base != "clamp_max" else None)
    high = op.kwargs.get("max", op.args[2] if len(op.args) > 2 else None)
    if op.base == "clamp_max":
        high = op.args[1]
    return (None if low is None else float(low.constant)), (None if high is None else float(high.constant))


def _chosen(op: Op, dtype: str, operands: list[tuple[str, str]]) -> str:
    kind = _computed_in(dtype)
    (first, _), second, third = operands[0], operands[1], operands[2]
    if op.base == "where":
        return f"tl.where({first}, {converted(*second, kind)}, {converted(*third, kind)})"
    return f"tl.where({second[0]}, {converted(*third, kind)}, {converted(*operands[0], kind)})"


def _computed_in(dtype: str) -> str:
    return "float32" if dtype in FLOATS or dtype.startswith("float8") else dtype


def converted(text: str, old: str, new: str) -> str:
    """A held value of type `old` as a held value of type `new`; numbers in the source have the type "number"."""
    if old == "number":
        return _number_as(text, new)
    if new in FLOATS:
        wide = text if old in FLOATS or old.startswith("float8") else f"{_grouped(text)}.to(tl.float32)"
        return rounded(wide, new) if new != old and new != "float32" else wide
    if new.startswith("float8"):
        return rounded(converted(text, old, "float32"), new)
    if new == "bool":
        return text if old == "bool" else f"({text} != 0)"
    return text if old == new else f"{_grouped(text)}.to({TL[new]})"


def _number_as(text: str, dtype: str) -> str:
    if dtype not in FLOATS and not dtype.startswith("float8"):
        return text
    if text.isidentifier():
        return f"({text} * 1.0)"  # a parameter may be a whole number
    return f"{text}.0" if text.lstrip("-").isdigit() else text


def rounded(text: str, dtype: str) -> str:
    """A result as its type can hold it."""
    if dtype in ("float32", "bool") or dtype in INTS:
        return text
    return f"{_grouped(text)}.to({TL[dtype]}).to(tl.float32)"


def _grouped(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


def _is_out_of_reach(program: Program, op: Op) -> bool:
    """Arguments that differ from workload to workload and are no operands."""
    others = [*op.args[len(tensor_arguments(op)) :], *op.kwargs.values()]
    numbers = [n for n in others if isinstance(n, Number)]
    return any(n.constant is None for n in numbers)


def _floats(op: Op, dtype: str, kinds: list[str]) -> bool:
    return dtype in FLOATS


def _arithmetic(op: Op, dtype: str, kinds: list[str]) -> bool:
    if "rounding_mode" in op.kwargs and op.kwargs["rounding_mode"] is not None:
        return False
    return dtype in FLOATS or (dtype in INTS and op.base != "div" and set(kinds) <= INTS)


def _compares(op: Op, dtype: str, kinds: list[str]) -> bool:
    return set(kinds) <= FLOATS or (len(set(kinds)) == 1 and kinds[0] in INTS | {"bool"})


def _bitwise(op: Op, dtype: str, kinds: list[str]) -> bool:
    return len(set(kinds)) == 1 and kinds[0] in INTS | {"bool"} and kinds[0] == dtype


def _casts(op: Op, dtype: str, kinds: list[str]) -> bool:
    return bool(kinds) and (dtype != "bool" or kinds[0] == "bool") and not dtype.startswith("float8")


def _powers(op: Op, dtype: str, kinds: list[str]) -> bool:
    return dtype in FLOATS and isinstance(op.args[1], Number) and op.args[1].constant in _POWERS


def _gelus(op: Op, dtype: str, kinds: list[str]) -> bool:
    return dtype in FLOATS and str(op.kwargs.get("approximate", "none")) in _GELU


def _chooses(op: Op, dtype: str, kinds: list[str]) -> bool:
    arguments = op.args[:3]
    condition = kinds[0] if op.base == "where" else kinds[op.reads.index(op.args[1].name)]
    return (
        condition == "bool"
        and (dtype in FLOATS or dtype in INTS)
        and all(isinstance(a, Ref | Number) for a in arguments)
    )


def _clamps(op: Op, dtype: str, kinds: list[str]) -> bool:
    return dtype in FLOATS and not any(isinstance(a, Ref) for a in op.args[1:])


_KNOWN: dict[str, Callable[[Op, str, list[str]], bool]] = {
    **dict.fromkeys(_UNARY, _floats),
    **dict.fromkeys((*_BINARY, "rsub"), _arithmetic),
    **dict.fromkeys(_COMPARISONS, _compares),
    **dict.fromkeys(_BITS, _bitwise),
    **dict.fromkeys(_CASTS, _casts),
    **dict.fromkeys(("where", "masked_fill"), _chooses),
    **dict.fromkeys(("clamp", "clamp_min", "clamp_max"), _clamps),
    "logical_not": lambda op, dtype, kinds: kinds == ["bool"],
    "pow": _powers,
    "softplus": lambda op, dtype, kinds: dtype in FLOATS and len(op.args) == 1,
    "elu": lambda op, dtype, kinds: dtype in FLOATS and all(n.constant == 1 for n in op.args[1:]),
    **dict.fromkeys(
        ("max", "min"), lambda op, dtype, kinds: dtype in FLOATS and op.target.endswith(".other")
    ),
    "gelu": _gelus,
}
