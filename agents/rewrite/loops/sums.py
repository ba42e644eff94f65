"""Sums and the like over any dimensions, in fp32, as a kernel works them out."""

from agents.rewrite.pointwise import FLOATS
from agents.rewrite.program import Number, Op, Program

_KINDS = {"sum", "mean", "amax", "amin", "linalg_vector_norm"}


def is_sum(program: Program, op: Op) -> bool:
    operand, typed = program.types.get(op.reads[0]) if op.reads else None, program.types.get(op.name)
    if op.base not in _KINDS or operand is None or typed is None:
        return False
    if op.base == "linalg_vector_norm" and (len(op.args) > 1 and op.args[1].constant != 2):
        return False
    return operand.dtype in FLOATS and typed.dtype in FLOATS


def summed_axes(op: Op, rank: int) -> list[int]:
    place = 2 if op.base == "linalg_vector_norm" else 1
    given = op.args[place] if len(op.args) > place else op.kwargs.get("dim")
    numbers = given if isinstance(given, tuple) else (given,)
    axes = [int(number.constant or 0) % rank for number in numbers if isinstance(number, Number)]
    return axes or list(range(rank))


def parts(kind: str, text: str) -> str:
    """What is reduced."""
    return f"{text} * {text}" if kind == "linalg_vector_norm" else text


def along(kind: str, text: str, dims: list[str]) -> str:
    """`text` reduced over `dims`, one after the other; padding counts as nothing."""
    function, nothing = _FUNCTIONS.get(kind, ("sum", "0.0"))
    text = f"{{only {','.join(dims)}|{text}|{nothing}}}"
    for dim in dims:
        text = f"tl.{function}({text}, axis={{axis {dim}}}, keep_dims=True)"
    return text


def finished(kind: str, text: str, length: str) -> str:
    """What is made of the reduced value."""
    if kind == "mean":
        return f"{text} / ({length} * 1.0)"
    return f"tl.sqrt_rn({text})" if kind == "linalg_vector_norm" else text


_FUNCTIONS = {"amax": ("max", 'float("-inf")'), "amin": ("min", 'float("inf")')}
