"""Kinds of what moves elements and computes none: views, slices, concatenations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.reading.kinds import Kind, Known, Scalar, Size, promoted
from agents.reading.sizes import axis_of, sizes_of
from agents.reading.term import Term

if TYPE_CHECKING:
    from agents.reading.reading import Reading


def transpose(reading: Reading, term: Term) -> Known:
    base = reading.tensor(term.args[0])
    axes = [axis_of(reading, arg, base.rank) for arg in term.args[1:]]
    first, second = axes
    if base.shape is None or first is None or second is None:
        return Kind(base.dtype)
    shape = list(base.shape)
    shape[first], shape[second] = shape[second], shape[first]
    return Kind(base.dtype, tuple(shape))


def reshape(reading: Reading, term: Term) -> Known:
    return Kind(reading.tensor(term.args[0]).dtype, sizes_of(reading, term.args[1]))


def arange(reading: Reading, term: Term) -> Known:
    dtype = reading.look_through(term.args[1])
    return Kind(str(dtype.value) if dtype.op == "dtype" else None, sizes_of(reading, term.args[0]) or (None,))


def outer(reading: Reading, term: Term) -> Known:
    first, second = reading.tensor(term.args[0]), reading.tensor(term.args[1])
    sizes = [(kind.shape or (None,))[0] for kind in (first, second)]
    dtypes = promoted(Kind(first.dtype), Kind(second.dtype))
    return Kind(dtypes.dtype if isinstance(dtypes, Kind) else None, tuple(sizes))


def unsqueeze(reading: Reading, term: Term) -> Known:
    base = reading.tensor(term.args[0])
    axis = reading.scalar(term.args[1])
    if base.shape is None or not isinstance(axis, int):
        return Kind(base.dtype)
    shape = list(base.shape)
    shape.insert(axis if axis >= 0 else len(shape) + 1 + axis, 1)
    return Kind(base.dtype, tuple(shape))


def repeat_interleave(reading: Reading, term: Term) -> Known:
    base = reading.tensor(term.args[0])
    axis = axis_of(reading, term.args[2], base.rank)
    if base.shape is None or axis is None:
        return Kind(base.dtype)
    shape: list[Size] = list(base.shape)
    shape[axis] = None
    return Kind(base.dtype, tuple(shape))


def cat(reading: Reading, term: Term) -> Known:
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


def index(reading: Reading, term: Term) -> Known:
    base = reading.look_through(term.args[0])
    index = reading.look_through(term.args[1])
    if base.op == "attribute" and base.value == "shape" and isinstance(index.value, int):
        shape = reading.tensor(base.args[0]).shape
        inside = shape is not None and -len(shape) <= index.value < len(shape)
        return Scalar(shape[index.value] if shape is not None and inside else None)
    if base.op == "chunk":
        return chunk(reading, base)
    return sliced(reading.tensor(base), index)


def chunk(reading: Reading, term: Term) -> Known:
    base = reading.tensor(term.args[0])
    axis, parts = axis_of(reading, term.args[2], base.rank), reading.scalar(term.args[1])
    if base.shape is None or axis is None or not isinstance(parts, int):
        return Kind(base.dtype)
    shape: list[Size] = list(base.shape)
    whole = shape[axis]
    shape[axis] = whole // parts if isinstance(whole, int) and whole % parts == 0 else None
    return Kind(base.dtype, tuple(shape))


def sliced(base: Kind, index: Term) -> Known:
    """Slices and new axes; an index by a number or a tensor leaves the shape unknown."""
    items = index.args if index.op == "tuple" else (index,)
    if base.shape is None or not all(keeps_rank(item) for item in items):
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


def keeps_rank(item: Term) -> bool:
    return item.op in ("slice", "ellipsis") or (item.op == "const" and item.value is None)
