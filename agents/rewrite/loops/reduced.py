"""Sums of a step, and products that sum: over a dimension of their own until it turns out to be another's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.rewrite.loops.lines import Value
from agents.rewrite.loops.recurrence import NoLoop
from agents.rewrite.loops.sums import along, finished, is_sum, parts, summed_axes
from agents.rewrite.loops.symbols import MIXES
from agents.rewrite.pointwise import FLOATS, converted, rounded
from agents.rewrite.program import Op, Vector
from agents.rewrite.spelling import is_product, spelling
from agents.rewrite.views import Index, broadcast_index

if TYPE_CHECKING:
    from agents.rewrite.loops.values import Values


def reduced(values: Values, op: Op, index: Index) -> Value:
    """`NoLoop` where a kernel has no such operation."""
    if is_product(op) and values.type(op.name) in FLOATS:
        return _product(values, op, index)
    if is_sum(values.program, op):
        return _sum(values, op, index)
    raise NoLoop(f"a step has {op.target}")


def _product(values: Values, op: Op, index: Index) -> Value:
    found = spelling(values.program, op)
    if found is None:
        raise NoLoop(f"a step has {op.target} in a form that no kernel here sums")
    sizes: dict[str, Vector] = {}
    for name, letters in found.operands:
        for letter, size in zip(letters, values.loop.types[name].shape, strict=True):
            if letter not in sizes or set(sizes[letter]) == {1}:
                sizes[letter] = size
    place = dict(zip(found.result, index, strict=True))
    over = [letter for letter in sizes if letter not in place]
    place |= {letter: values.symbols.named((op.name, index, letter), sizes[letter]) for letter in over}
    operands = []
    for name, letters in found.operands:
        wanted = tuple(place[letter] for letter in letters)
        operands.append(values.value(name, broadcast_index(wanted, values.loop.types[name].shape)))
    text = " * ".join(converted(value.text, value.dtype, "float32") for value in operands)
    dims = _over_dims(values, [place[letter] for letter in over], index)
    return _over(values, op, "sum", (text, operands), (dims, []))


def _sum(values: Values, op: Op, index: Index) -> Value:
    shape = values.loop.types[op.reads[0]].shape
    axes = summed_axes(op, len(shape))
    keeps = len(values.loop.types[op.name].shape) == len(shape)
    rest = iter(index)
    inner = []
    for place, size in enumerate(shape):
        kept = next(rest) if keeps or place not in axes else "0"
        inner.append(values.symbols.named((op.name, index, place), size) if place in axes else kept)
    operand = values.value(op.reads[0], tuple(inner))
    dims = _over_dims(values, [inner[place] for place in axes], index)
    text = converted(operand.text, operand.dtype, "float32")
    return _over(values, op, op.base, (text, [operand]), (dims, [shape[axis] for axis in axes]))


def _over_dims(values: Values, places: list[str], index: Index) -> list[str]:
    """The dimensions that a sum runs over, which cannot be those of its result."""
    dims = [values.symbols.find(part) for part in places if part != "0"]
    if set(dims) & values.scribe.dims(index) or len(set(dims)) < len(dims):
        raise NoLoop(MIXES)
    return dims


def _over(
    values: Values, op: Op, kind: str, summed: tuple[str, list[Value]], over: tuple[list[str], list[Vector]]
) -> Value:
    """Of a text and the values in it, a sum or the like over dimensions and sizes."""
    (text, operands), (dims, sizes) = summed, over
    scribe, dtype = values.scribe, values.type(op.name)
    value = scribe.assigned(f"{op.name}_parts", parts(kind, text), "float32", operands)
    if dims:
        if not set(dims) <= value.dims:
            raise NoLoop("a sum over what does not vary along it")
        values.symbols.meet(value.dims)
        scribe.lines.tiles.add(value.dims)
        scribe.lines.reduced |= set(dims)
        rest = Value("", "", value.dims - set(dims), value.moves)
        value = scribe.assigned(f"{op.name}_over", along(kind, value.text, dims), "float32", [rest])
    length = " * ".join(map(values.size, sizes))
    return scribe.assigned(op.name, rounded(finished(kind, value.text, length), dtype), dtype, [value])
