"""Where a step looks: places that move on with the steps, and several dimensions as one."""

from collections.abc import Callable

from agents.rewrite.loops.recurrence import Moving, NoLoop
from agents.rewrite.program import Op, Program, Vector
from agents.rewrite.views import Index, broadcast_index, held, is_view, reshaped, segments, source_index

RESHAPES = {"view", "reshape", "_unsafe_view", "flatten", "unflatten"}
_AS_IT_IS = {"expand_as", "contiguous", "clone"}
SizeText = Callable[[Vector], str]


class Joined(str):
    """An index into dimensions that a reshape made one; remembers the index into each of them."""

    parts: tuple[tuple[str, Vector], ...]

    @staticmethod
    def of(text: str, parts: tuple[tuple[str, Vector], ...]) -> "Joined":
        made = Joined(text)
        made.parts = parts
        return made


def moved(at: Moving, size: SizeText) -> str:
    """The place in step `t`."""
    start = size(tuple(int(value) for value in at.values))
    if at.step == -1:
        return f"{held(start)} - t"
    steps = "t" if at.step == 1 else f"{at.step} * t"
    return steps if start == "0" else f"{steps} + {start}"


def refolded(
    index: Index, new: tuple[Vector, ...], old: tuple[Vector, ...], workloads: int, size: SizeText
) -> Index:
    """As `reshaped`, but dimensions that were made one come apart again as they were."""
    found: list[str] = []
    place = 0
    for begin, end, new_end in segments(old, new, workloads):
        wide = [n for n in range(begin, end) if set(old[n]) != {1}]
        atoms = _atoms(index[place:new_end], new[place:new_end])
        if [part_size for _, part_size in atoms] == [old[n] for n in wide]:
            given = iter(part for part, _ in atoms)
            found += [next(given) if n in wide else "0" for n in range(begin, end)]
        else:
            inner = reshaped(index[place:new_end], new[place:new_end], old[begin:end], workloads, size)
            found += [
                Joined.of(part, tuple(atoms)) if wide == [begin + n] and len(atoms) > 1 else part
                for n, part in enumerate(inner)
            ]
        place = new_end
    return tuple(found)


def _atoms(index: Index, sizes: tuple[Vector, ...]) -> list[tuple[str, Vector]]:
    found: list[tuple[str, Vector]] = []
    for part, part_size in zip(index, sizes, strict=True):
        if isinstance(part, Joined):
            found += part.parts
        elif set(part_size) != {1}:
            found.append((part, part_size))
    return found


def viewed(program: Program, op: Op, index: Index, size: SizeText) -> tuple[str, Index] | None:
    """What a view shows, and where; none where the operation is no view."""
    if op.base in _AS_IT_IS:
        return op.reads[0], broadcast_index(index, program.types[op.reads[0]].shape)
    if not is_view(program, op):
        return None
    source = op.reads[0]
    moving = next((number for number in op.args[1:] if isinstance(number, Moving)), None)
    if moving is not None:
        return source, _slid(program, op, index, moving, size)
    if op.base in RESHAPES:
        return source, refolded(
            index, program.types[op.name].shape, program.types[source].shape, program.workloads, size
        )
    return source_index(program, op, index, size)


def _slid(program: Program, op: Op, index: Index, at: Moving, size: SizeText) -> Index:
    """A slice that moves on with the steps."""
    shape = program.types[op.reads[0]].shape
    dim = int(op.args[1].constant or 0) % len(shape)
    if op.base not in ("select", "slice", "narrow") or not isinstance(op.args[2], Moving):
        raise NoLoop(f"{op.target} grows from step to step")
    if any(value < 0 for value in at.values):
        at = Moving(tuple(v + n for v, n in zip(at.values, shape[dim], strict=True)), at.step)
    place = moved(at, size)
    if op.base == "select":
        return (*index[:dim], place, *index[dim:])
    part = place if index[dim] == "0" else f"{held(index[dim])} + {place}"
    return (*index[:dim], part, *index[dim + 1 :])
