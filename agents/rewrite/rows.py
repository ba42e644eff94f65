"""Reductions and normalisations along the last axis, as Triton over tiles that hold whole rows."""

from agents.rewrite.pointwise import FLOATS
from agents.rewrite.program import Number, Op, Program, Vector

LONGEST = 16384
"""Elements of a row that one tile holds at most."""
_SIMPLE = {"mean", "sum", "amax", "amin"}
_WHOLE = {"softmax", "_softmax", "rms_norm", "layer_norm"}


def is_rows(program: Program, op: Op) -> bool:
    """Whether it works along the last axis of floats that a tile can hold."""
    if op.base not in _SIMPLE | _WHOLE or not op.reads:
        return False
    operand = program.types.get(op.reads[0])
    typed = program.types.get(op.name)
    if operand is None or typed is None or not operand.shape or operand.dtype not in FLOATS:
        return False
    if typed.dtype not in FLOATS or max(operand.shape[-1]) > LONGEST or min(operand.shape[-1]) < 2:
        return False
    return _axes(op, len(operand.shape)) == [len(operand.shape) - 1]


def row_length(program: Program, op: Op) -> Vector:
    return program.types[op.reads[0]].shape[-1]


def keeps_shape(op: Op) -> bool:
    """Whether the result has a value for each of the operand's, not one for each row."""
    return op.base in _WHOLE


def _axes(op: Op, rank: int) -> list[int] | None:
    if op.base in ("rms_norm", "layer_norm"):
        return [rank - 1] if len(op.args[1]) == 1 else None
    given = op.args[1] if len(op.args) > 1 else op.kwargs.get("dim")
    if given is None:
        return [0] if rank == 1 else None
    numbers = given if isinstance(given, tuple) else (given,)
    if not numbers and rank > 1:
        return None
    return [int(n.constant or 0) % rank for n in numbers if isinstance(n, Number)]


def keeps_dimension(op: Op) -> bool:
    value = op.args[2] if len(op.args) > 2 else op.kwargs.get("keepdim", False)
    return value is True


def reduced(op: Op, x: str, mask: str, length: str) -> str:
    """One value a row, in fp32; `x` is the tile, `mask` its columns that exist, `length` how many those are."""
    if op.base == "amax":
        return f'tl.max(tl.where({mask}, {x}, float("-inf")), axis=1, keep_dims=True)'
    if op.base == "amin":
        return f'tl.min(tl.where({mask}, {x}, float("inf")), axis=1, keep_dims=True)'
    total = f"tl.sum(tl.where({mask}, {x}, 0.0), axis=1, keep_dims=True)"
    return f"{total} / ({length} * 1.0)" if op.base == "mean" else total


def epsilon(op: Op) -> float:
    """Of a norm; torch takes the element type's own when none is given."""
    given = op.args[3] if op.base == "rms_norm" and len(op.args) > 3 else None
    given = op.args[4] if op.base == "layer_norm" and len(op.args) > 4 else given
    given = op.kwargs.get("eps", given)
    if isinstance(given, Number):
        return float(given.constant or 0.0)
    return 1e-5 if op.base == "layer_norm" else 1.1920929e-07  # what torch takes for fp32
