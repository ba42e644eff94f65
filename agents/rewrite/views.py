"""Views as arithmetic on indices: where in the operand stands what stands at an index of the view."""

from collections.abc import Callable
from typing import Any

from agents.rewrite.program import Number, Op, Program, Vector, product

Index = tuple[str, ...]
"""One expression for each dimension."""
SizeText = Callable[[Vector], str]
"""Where the index is used, a size has a name or is written as a number."""

SPLITS = {"chunk", "split", "split_with_sizes", "unbind", "tensor_split"}
_RESHAPES = {"view", "reshape", "_unsafe_view", "flatten", "unflatten"}


def is_view(program: Program, op: Op) -> bool:
    """Whether the operation only says where to look, so that `source_index` knows it."""
    if op.base == "getitem":
        return program.ops[op.reads[0]].base in SPLITS
    if op.base in _RESHAPES:
        return op.target != "view.dtype" and len(program.types[op.reads[0]].shape) > 0
    return op.base in _MOVES


def is_padding(program: Program, op: Op) -> bool:
    """Whether it puts a constant number of zeros around."""
    sizes = op.args[1] if op.base == "pad" and len(op.args) == 2 and not op.kwargs else None
    is_plain = isinstance(sizes, tuple) and all(
        (n.constant or 0) >= 0 for n in sizes if n.constant is not None
    )
    return is_plain and op.name in program.types and all(n.constant is not None for n in sizes or ())


def padded_index(program: Program, op: Op, index: Index, text: SizeText) -> tuple[Index, str]:
    """Where in the operand stands what `index` finds in the padded result, and where there is such a place."""
    sizes = program.types[op.reads[0]].shape
    found, inside = list(index), []
    for pair in range(len(op.args[1]) // 2):
        before, after = (int(op.args[1][2 * pair + side].constant) for side in (0, 1))
        dim = len(index) - 1 - pair
        if before or after:
            found[dim] = f"{held(index[dim])} - {before}" if before else index[dim]
            inside += [f"({held(found[dim])} >= 0)"] if before else []
            inside += [f"({held(found[dim])} < {text(sizes[dim])})"] if after else []
    return tuple(found), " & ".join(inside)


def source_index(program: Program, op: Op, index: Index, text: SizeText) -> tuple[str, Index]:
    """The operand of a view, and where in it stands what `index` finds in the view."""
    if op.base == "getitem":
        return _part(program, op, index, text)
    source = op.reads[0]
    if op.base in _RESHAPES:
        old, new = program.types[source].shape, program.types[op.name].shape
        return source, reshaped(index, new, old, program.workloads, text)
    return source, _MOVES[op.base](program, op, index, text)


def reshaped(
    index: Index, new: tuple[Vector, ...], old: tuple[Vector, ...], workloads: int, text: SizeText
) -> Index:
    """`index` into sizes `new` as one into sizes `old` of the same elements in the same order."""
    found: list[str] = []
    place = 0
    for size_start, size_end, new_end in segments(old, new, workloads):
        sizes, parts = old[size_start:size_end], index[place:new_end]
        linear = _linear(parts, new[place:new_end], workloads, text)
        found += _unfolded(linear, sizes, workloads, text)
        place = new_end
    return tuple(found)


def segments(old: tuple[Vector, ...], new: tuple[Vector, ...], workloads: int) -> list[tuple[int, int, int]]:
    """Shortest runs of dimensions of `old` that hold as many elements as runs of `new`: (from, to, end in new)."""
    found, start, first, i, j = [], 0, 0, 0, 0
    while i < len(old) or j < len(new):
        one, two = product(old[start:i], workloads), product(new[first:j], workloads)
        if one == two and i > start and j > first:
            found.append((start, i, j))
            start, first = i, j
            continue
        grow_old = i < len(old) and (j >= len(new) or sum(one) <= sum(two))
        if grow_old:
            i += 1
        else:
            j += 1
    if found and product(old[start:], workloads) == product(new[first:], workloads) == (1,) * workloads:
        found[-1] = (found[-1][0], len(old), len(new))
    else:
        found.append((start, len(old), len(new)))
    return found


def _linear(index: Index, sizes: tuple[Vector, ...], workloads: int, text: SizeText) -> str:
    """The place in row-major order."""
    terms = []
    for place, part in enumerate(index):
        after = product(sizes[place + 1 :], workloads)
        if part != "0" and set(sizes[place]) != {1}:
            terms.append(part if set(after) == {1} else f"{held(part)} * {text(after)}")
    return " + ".join(terms) or "0"


def _unfolded(linear: str, sizes: tuple[Vector, ...], workloads: int, text: SizeText) -> list[str]:
    parts = []
    wide = [place for place, size in enumerate(sizes) if set(size) != {1}]
    for place, size in enumerate(sizes):
        if place not in wide or linear == "0":
            parts.append("0")
            continue
        after = product(sizes[place + 1 :], workloads)
        part = linear if set(after) == {1} else f"{held(linear)} // {text(after)}"
        parts.append(part if place == wide[0] else f"{held(part)} % {text(size)}")
    return parts


def _part(program: Program, op: Op, index: Index, text: SizeText) -> tuple[str, Index]:
    """One of several pieces: an offset along the dimension that was cut."""
    split = program.ops[op.reads[0]]
    source, which = split.reads[0], int(op.args[1].constant)
    rank = len(program.types[source].shape)
    dim = _dim(_argument(split, 2 if split.base != "unbind" else 1, "dim", 0), rank)
    if split.base == "unbind":
        return source, (*index[:dim], str(which), *index[dim:])
    size = program.types[op.name].shape[dim]
    before = _before(program, split, source, dim, which, size)
    return source, _moved(index, dim, _plus(index[dim], before, text))


def _before(program: Program, split: Op, source: str, dim: int, which: int, size: Vector) -> Vector:
    """How much of the dimension the pieces before this one take."""
    if split.base == "split_with_sizes":
        pieces = [piece.values for piece in split.args[1][:which]]
        return tuple(sum(int(piece[w]) for piece in pieces) for w in range(program.workloads))
    whole = program.types[source].shape[dim]
    if split.base == "split":
        each = split.args[1].values
    else:
        each = tuple(-(-n // int(k)) for n, k in zip(whole, split.args[1].values, strict=True))
    return tuple(int(n) * which for n in each)


def _transpose(program: Program, op: Op, index: Index, text: SizeText) -> Index:
    rank = len(index)
    if op.base in ("t", "numpy_T"):
        return index[::-1]
    one, two = (_dim(_argument(op, place, name, 0), rank) for place, name in ((1, "dim0"), (2, "dim1")))
    swapped = list(index)
    swapped[one], swapped[two] = swapped[two], swapped[one]
    return tuple(swapped)


def _permute(program: Program, op: Op, index: Index, text: SizeText) -> Index:
    dims = [_dim(number, len(index)) for number in op.args[1]]
    return tuple(index[dims.index(place)] for place in range(len(index)))


def _unsqueeze(program: Program, op: Op, index: Index, text: SizeText) -> Index:
    dim = _dim(op.args[1], len(index))
    return (*index[:dim], *index[dim + 1 :])


def _squeeze(program: Program, op: Op, index: Index, text: SizeText) -> Index:
    sizes = program.types[op.reads[0]].shape
    if len(op.args) > 1:
        dims = op.args[1] if isinstance(op.args[1], tuple) else (op.args[1],)
        gone = {_dim(number, len(sizes)) for number in dims}
        gone = {place for place in gone if set(sizes[place]) == {1}}
    else:
        gone = {place for place, size in enumerate(sizes) if set(size) == {1}}
    rest = iter(index)
    return tuple("0" if place in gone else next(rest) for place in range(len(sizes)))


def _expand(program: Program, op: Op, index: Index, text: SizeText) -> Index:
    return broadcast_index(index, program.types[op.reads[0]].shape)


def broadcast_index(index: Index, sizes: tuple[Vector, ...]) -> Index:
    """Into a tensor of these sizes that was broadcast to what `index` indexes."""
    own = index[len(index) - len(sizes) :]
    return tuple("0" if set(size) == {1} else part for part, size in zip(own, sizes, strict=True))


def _slice(program: Program, op: Op, index: Index, text: SizeText) -> Index:
    sizes = program.types[op.reads[0]].shape
    dim = _dim(_argument(op, 1, "dim", 0), len(index))
    start, step = _argument(op, 2, "start", None), _argument(op, 4, "step", 1)
    step = step.constant if isinstance(step, Number) else step
    values = start.values if isinstance(start, Number) else (start or 0,) * program.workloads
    begin = tuple(
        min(n, max(0, int(v) + n if v < 0 else int(v))) for v, n in zip(values, sizes[dim], strict=True)
    )
    part = index[dim] if step == 1 else f"{held(index[dim])} * {step}"
    return _moved(index, dim, _plus(part, begin, text))


def _narrow(program: Program, op: Op, index: Index, text: SizeText) -> Index:
    dim = _dim(op.args[1], len(index))
    return _moved(index, dim, _plus(index[dim], tuple(int(v) for v in op.args[2].values), text))


def _select(program: Program, op: Op, index: Index, text: SizeText) -> Index:
    sizes = program.types[op.reads[0]].shape
    dim = _dim(op.args[1], len(sizes))
    picked = tuple(
        int(v) + n if v < 0 else int(v) for v, n in zip(op.args[2].values, sizes[dim], strict=True)
    )
    return (*index[:dim], text(picked), *index[dim:])


def _repeated(program: Program, op: Op, index: Index, text: SizeText) -> Index:
    dim = _dim(_argument(op, 2, "dim", 0), len(index))
    times = tuple(int(v) for v in op.args[1].values)
    return _moved(index, dim, f"{held(index[dim])} // {text(times)}")


_MOVES: dict[str, Callable[[Program, Op, Index, SizeText], Index]] = {
    "transpose": _transpose, "t": _transpose, "numpy_T": _transpose, "swapaxes": _transpose, "permute": _permute,
    "unsqueeze": _unsqueeze, "squeeze": _squeeze, "expand": _expand, "slice": _slice, "narrow": _narrow,
    "select": _select, "repeat_interleave": _repeated,
}  # fmt: skip


def _argument(op: Op, place: int, name: str, default: Any) -> Any:
    return op.args[place] if len(op.args) > place else op.kwargs.get(name, default)


def _dim(number: Any, rank: int) -> int:
    value = int(number.constant or 0) if isinstance(number, Number) else int(number)
    return value + rank if value < 0 else value


def _moved(index: Index, dim: int, part: str) -> Index:
    return (*index[:dim], part, *index[dim + 1 :])


def _plus(part: str, more: Vector, text: SizeText) -> str:
    return part if set(more) == {0} else f"{part} + {text(more)}"


def held(text: str) -> str:
    """In parentheses unless it is one word."""
    return text if text.isidentifier() or text.isdigit() else f"({text})"
