"""What torch's selections choose along the last dimension, whichever of them is called."""

from dataclasses import dataclass

from agents.rewrite.program import Number, Op, Program
from agents.rewrite.rules.views import argument

_MOST = 64
"""Values chosen of a row: each costs a pass over it."""
_KEYED = {"float32", "float16", "bfloat16", "int32", "int16", "int8", "uint8"}
_BASES = {"topk", "sort", "max", "min", "argmax", "argmin"}


@dataclass(frozen=True)
class Chosen:
    """`count` of each row, in order or in the order in which they stand in it."""

    operand: str
    count: int
    largest: bool
    in_order: bool


def chosen(program: Program, op: Op) -> Chosen | None:
    """None for anything else, for other dimensions, and for more than one pass a value is worth."""
    if op.base not in _BASES or not op.reads or op.target in ("max.default", "min.default"):
        return None
    operand = program.types.get(op.reads[0])
    if operand is None or operand.dtype not in _KEYED or not operand.shape:
        return None
    if len(op.reads) != 1:
        return None  # the larger of two, element by element
    length = operand.shape[-1]
    if len(set(length)) != 1 or not _is_last(op, len(operand.shape)):
        return None
    count = _count(op, length[0])
    if count is None or not 0 < count <= min(_MOST, length[0]):
        return None
    largest = _is_descending(op) if op.base == "sort" else op.base not in ("min", "argmin")
    if op.base == "topk":
        largest = argument(op, 3, "largest", True) is not False
    in_order = op.base != "topk" or argument(op, 4, "sorted", True) is not False
    return Chosen(op.reads[0], count, largest, in_order or count == 1)


def _count(op: Op, length: int) -> int | None:
    if op.base == "topk":
        given = argument(op, 1, "k")
        return int(given.constant) if isinstance(given, Number) and given.constant is not None else None
    return length if op.base == "sort" else 1


def _is_last(op: Op, rank: int) -> bool:
    place = 2 if op.base == "topk" or op.target == "sort.stable" else 1
    dim = argument(op, place, "dim", None if op.base in ("argmax", "argmin") else -1)
    if isinstance(dim, Number):
        dim = dim.constant
    return dim in (-1, rank - 1)


def _is_descending(op: Op) -> bool:
    return argument(op, 3 if op.target == "sort.stable" else 2, "descending", False) is True


def shows_order(program: Program, op: Op) -> bool:
    """Whether a result would differ if the same values were chosen in another order."""
    parts = [other for other in program.ops.values() if op.name in other.reads]
    for part in parts:
        readers = [other for other in program.ops.values() if part.name in other.reads]
        if part.name in program.results or not all(_is_blind(program, part, other) for other in readers):
            return True
    return False


def _is_blind(program: Program, part: Op, reader: Op) -> bool:
    """A reader that sums over what was chosen, or marks where it stands."""
    if reader.base in ("sum", "amax", "amin", "mean"):
        dims = reader.args[1] if len(reader.args) > 1 else ()
        rank = len(program.types[part.name].shape)
        return isinstance(dims, tuple) and [int(n.constant or 0) % rank for n in dims] == [rank - 1]
    is_mark = reader.target == "scatter.value" and reader.reads[-1:] == (part.name,)
    return is_mark and reader.reads.index(part.name) == 1
