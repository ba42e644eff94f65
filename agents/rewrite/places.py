"""Where in a tensor stands what a matrix holds at row `r` and column `k`, and how that depends on the two."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from agents.rewrite.program import Op, Program, Vector, product
from agents.rewrite.views import Index, broadcast_index, is_view, source_index

_EDGES = (0, 1, 2, 3, 15, 16, 31, 32, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 1023, 1024)
_LONGEST_BLOCK = 1024


@dataclass(frozen=True)
class Place:
    """A value, and for each workload the index into it in terms of `r` and `k`, which run to `sizes`."""

    name: str
    indices: tuple[Index, ...]
    sizes: tuple[Vector, Vector]

    def offsets(self, program: Program, workload: int, r: Any, k: Any) -> Any:
        """Of elements, row by row."""
        shape = program.types[self.name].shape
        total: Any = 0
        for place, part in enumerate(self.indices[workload]):
            after = product(shape[place + 1 :], program.workloads)[workload]
            total = total + eval(part, {"__builtins__": {}}, {"r": r, "k": k}) * after
        return total + 0 * (r + k)


@dataclass(frozen=True)
class Strided:
    """Offsets are `r * row + k * column`."""

    row: Vector
    column: Vector


@dataclass(frozen=True)
class Blocked:
    """Offsets are `r // rows * row + k // columns * column`; `rows` or `columns` is None where all share one."""

    rows: int | None
    columns: int | None
    row: Vector
    column: Vector


def matrix(program: Program, name: str, turned: bool) -> Place:
    """The leading dimensions of `name` count the rows; `turned`: of two dimensions the second does."""
    shape = program.types[name].shape
    rows = shape[-1] if turned else product(shape[:-1], program.workloads)
    columns = shape[0] if turned else shape[-1]
    indices = []
    for workload in range(program.workloads):
        lead = ["r"] if turned else []
        for place in range(0 if turned else len(shape) - 1):
            after = product(shape[place + 1 : -1], program.workloads)[workload]
            part = "r" if after == 1 else f"(r // {after})"
            lead.append(part if place == 0 else f"({part} % {shape[place][workload]})")
        indices.append(("k", *lead) if turned else (*lead, "k"))
    return Place(name, tuple(indices), (rows, columns))


def behind_views(program: Program, place: Place) -> Place:
    """The same elements in what is no view of anything."""
    while (op := program.ops.get(place.name)) is not None and is_view(program, op):
        found = [
            source_index(program, op, index, _size_at(workload))
            for workload, index in enumerate(place.indices)
        ]
        place = replace(place, name=found[0][0], indices=tuple(index for _, index in found))
    return place


def of_operand(program: Program, place: Place, op: Op, name: str) -> Place:
    """What `op`, which works element by element, reads of `name` for its own element at `place`."""
    shape = program.types[name].shape
    indices = tuple(broadcast_index(index, shape) for index in place.indices)
    return behind_views(program, replace(place, name=name, indices=indices))


def strided(program: Program, place: Place) -> Strided | None:
    """None where rows or columns are not evenly apart."""
    rows, columns = _steps(program, place, 1, 1)
    found = Strided(rows, columns)
    return found if _fits(program, place, lambda w, r, k: r * rows[w] + k * columns[w]) else None


def blocked(program: Program, place: Place) -> Blocked | None:
    """None where the elements that share one of `place` are no blocks."""
    high, wide = _block(program, place, by_row=True), _block(program, place, by_row=False)
    rows, columns = _steps(program, place, high or 0, wide or 0)
    found = Blocked(high, wide, rows, columns)
    h, c = high or 1, wide or 1
    fits = _fits(program, place, lambda w, r, k: r // h * rows[w] + k // c * columns[w])
    return found if fits else None


def same_offsets(
    program: Program, place: Place, indices: tuple[Index, ...], shape: tuple[Vector, ...]
) -> bool:
    """Whether `indices` into a tensor of `shape` lead where `place` does."""
    after = [product(shape[n + 1 :], program.workloads) for n in range(len(shape))]

    def there(workload: int, r: Any, k: Any) -> Any:
        at = {"r": r, "k": k}
        parts = (eval(part, {"__builtins__": {}}, at) for part in indices[workload])
        return sum(part * size[workload] for part, size in zip(parts, after, strict=True))

    return _fits(program, place, there)


def _size_at(workload: int) -> Callable[[tuple[int | float, ...]], str]:
    return lambda values: str(values[workload])


def _block(program: Program, place: Place, by_row: bool) -> int | None:
    """After how many rows (or columns) the offset first changes, in any workload."""
    import numpy as np

    found: list[int] = []
    for workload in range(program.workloads):
        size = place.sizes[0 if by_row else 1][workload]
        line = np.arange(min(size, _LONGEST_BLOCK + 1))
        offsets = place.offsets(program, workload, *((line, 0 * line) if by_row else (0 * line, line)))
        changes = np.flatnonzero(offsets != offsets[0])
        found += [int(changes[0])] if changes.size else []
    return min(found) if found else None


def _steps(program: Program, place: Place, high: int, wide: int) -> tuple[Vector, Vector]:
    """How far offsets move from one block to the next, even where a workload has only one."""
    import numpy as np

    steps: list[Vector] = []
    for axis, block in enumerate((high, wide)):
        found: list[int] = []
        for workload in range(program.workloads):
            at = np.array([0, block])
            offsets = place.offsets(program, workload, *((at, 0 * at) if axis == 0 else (0 * at, at)))
            found.append(int(offsets[1] - offsets[0]))
        steps.append(tuple(found))
    return steps[0], steps[1]


def _fits(program: Program, place: Place, formula: Callable[[int, Any, Any], Any]) -> bool:
    """At edges of blocks of the usual sizes, at the ends, and at places between."""
    import numpy as np

    generator = np.random.default_rng(0)
    for workload in range(program.workloads):
        lines = []
        for size in (place.sizes[0][workload], place.sizes[1][workload]):
            some = [*_EDGES, size - 1, size - 2, *generator.integers(0, size, 60).tolist()]
            lines.append(np.unique([n for n in some if 0 <= n < size]))
        r, k = np.meshgrid(*lines, indexing="ij")
        if not np.array_equal(place.offsets(program, workload, r, k), formula(workload, r, k) + 0 * r):
            return False
    return True
