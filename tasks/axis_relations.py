"""How the `var` axes of a task hang together, read off its workloads: `len_indptr` is `batch_size` + 1."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Literal

from tasks.value import Value

Rows = Sequence[Mapping[str, int]]


class Relation(Value):
    """`axis` follows from `sources`, in every workload."""

    axis: str
    kind: Literal["equal", "successor", "multiple", "product", "sum"]
    sources: tuple[str, ...]
    factor: int = 1

    def value(self, axes: Mapping[str, int]) -> int:
        first, *rest = (axes[source] for source in self.sources)
        match self.kind:
            case "successor":
                return first + 1
            case "product":
                return first * rest[0]
            case "sum":
                return first + rest[0]
        return first * self.factor


def relations(rows: Rows, axes: Sequence[str]) -> tuple[Relation, ...]:
    """The relations that hold in all `rows`, each axis following from ones that follow from none.

    Coincidence is kept out: a relation must be seen at two different sizes at least, or be told by its name.
    One that is kept although it was a coincidence only makes the shrunk sizes fewer, not wrong.
    """
    found: dict[str, Relation] = {}
    used: set[str] = set()
    for axis in axes:
        if axis in used:
            continue
        free = [other for other in axes if other != axis and other not in found]
        relation = next((r for r in _possible(axis, free, rows) if _convincing(r, rows)), None)
        if relation is not None:
            found[axis] = relation
            used.update(relation.sources)
    return tuple(found.values())


def complete(free: Mapping[str, int], found: Sequence[Relation]) -> dict[str, int]:
    """All axes from the free ones."""
    return {**free, **{relation.axis: relation.value(free) for relation in found}}


def _possible(axis: str, others: Sequence[str], rows: Rows) -> Iterator[Relation]:
    for other in others:
        yield Relation(axis=axis, kind="successor", sources=(other,))
        yield Relation(axis=axis, kind="equal", sources=(other,))
    for other in others:
        if rows[0][other] > 0 and rows[0][axis] % rows[0][other] == 0:
            factor = rows[0][axis] // rows[0][other]
            if factor > 1:
                yield Relation(axis=axis, kind="multiple", sources=(other,), factor=factor)
    for pair in combinations_with_replacement(others, 2):
        yield Relation(axis=axis, kind="product", sources=pair)
        yield Relation(axis=axis, kind="sum", sources=pair)


def _convincing(relation: Relation, rows: Rows) -> bool:
    if any(row[relation.axis] != relation.value(row) for row in rows):
        return False
    return _NAMED[relation.kind](relation.axis) or _seen_enough(relation, rows)


def _seen_enough(relation: Relation, rows: Rows) -> bool:
    sizes = {tuple(row[source] for source in relation.sources) for row in rows}
    if len(relation.sources) == 1:
        return len({row[relation.axis] for row in rows}) > 1
    return len(sizes) > 2 and all(len(set(column)) > 1 for column in zip(*sizes, strict=True))


def _total(axis: str) -> bool:
    return "total" in axis or "num_tokens" in axis


_NAMED: dict[str, Callable[[str], bool]] = {
    "successor": lambda axis: "indptr" in axis or "plus_one" in axis,
    "equal": lambda axis: False,
    "multiple": lambda axis: False,
    "product": _total,
    "sum": _total,
}
"""Where the axis's name alone makes the relation plausible, whatever the number of workloads."""
