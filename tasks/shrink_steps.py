"""How one axis shrinks, and what a smaller set of axes must not break."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

from tasks.axis_relations import Relation, complete
from tasks.resolved import Resolved, Resolver

ALIGNMENTS = (128, 16, 1)
"""What is kept of an axis's divisibility: first all, and less only where memory does not allow it."""

_MOST_STEPS = 1_000
"""Of halvings for one workload. An axis of 2^63 takes 63; the bound is there so that nothing can loop."""
_STRUCTURAL = (
    "head",
    "dim",
    "hidden",
    "expert",
    "channel",
    "group",
    "kernel",
    "intermediate",
    "page_size",
    "topk",
    "feature",
    "inner",
    "block",
)
_PICTURE = ("height",)
"""Beside an axis of this name, `width` is that of a picture; else it is that of a model's layer."""
_COUNTS = ("batch", "indptr", "num_seqs", "num_sequences")


def halved(
    original: Mapping[str, int],
    found: Sequence[Relation],
    at: Resolver,
    alignment: int,
    load: Callable[[Mapping[str, int]], float],
    structural: bool = True,
) -> dict[str, int]:
    """Halve one axis at a time, the one whose halving leaves the least load, until the load is 1 or none is left.

    Without `structural` the sizes of the model stay.
    """
    dependent = {relation.axis for relation in found}
    free = [axis for axis in at.definition.var_axes if axis not in dependent]
    bounds = Bounds(original, at)
    halvings = dict.fromkeys(free, 0)
    current = dict(original)
    for _ in range(_MOST_STEPS):
        if load(current) <= 1:
            break
        options = []
        for axis in free:
            tried = {**halvings, axis: halvings[axis] + 1}
            sizes = {a: shrunk_size(a, original[a], tried[a], alignment) for a in free}
            axes = {**original, **complete({**original, **sizes}, found)}
            if (
                sizes[axis] < current[axis]
                and (structural or not bounds.is_structural(axis))
                and bounds.allow(axes)
            ):
                options.append((bounds.is_structural(axis), load(axes), -current[axis], axis, axes))
        if not options:
            break
        *_, axis, current = min(options, key=lambda option: option[:4])
        halvings[axis] += 1
    return current


def shrunk_size(axis: str, size: int, halvings: int, alignment: int) -> int:
    """`size` halved `halvings` times: at least 1, and aligned as before, up to `alignment`.

    An odd number of units stays odd: what is no multiple of more does not become one, and stays as ragged.
    Counts of sequences are aligned to nothing; an axis of index pointers has one entry more than sequences.
    """
    if size <= 1 or halvings == 0:
        return size
    if "indptr" in axis:
        return 1 + shrunk_size("batch", size - 1, halvings, alignment)
    step = 1 if any(word in axis for word in _COUNTS) else _alignment(size, alignment)
    units = max((size // step) >> halvings, 1)
    if size // step % 2 and units > 1:
        units |= 1
    return units * step


def _alignment(size: int, most: int) -> int:
    return next((step for step in ALIGNMENTS if step <= most and size % step == 0), 1)


class Bounds:
    """What held of one workload's axes before, and has to hold after."""

    def __init__(self, original: Mapping[str, int], at: Resolver) -> None:
        self._at = at
        self._empty = _empty_tensors(at(original))
        pairs = [(a, b) for a, b in permutations(at.definition.var_axes, 2) if original[a] <= original[b]]
        self._ordered = [(a, b) for a, b in pairs if _is_ordered(a, b)]
        self._divides = [
            (a, b) for a, b in pairs
            if "head" in a and "head" in b and original[a] > 0 and original[b] % original[a] == 0
        ]  # fmt: skip

    def allow(self, axes: Mapping[str, int]) -> bool:
        """No axis expression fails, no tensor becomes empty; orders and divisibility of heads are kept."""
        try:
            empty = _empty_tensors(self._at(axes))
        except ValueError:
            return False
        return (
            empty <= self._empty
            and all(axes[a] <= axes[b] for a, b in self._ordered)
            and all(axes[b] % axes[a] == 0 for a, b in self._divides)
        )

    def is_structural(self, axis: str) -> bool:
        """Sizes of the model, which shrink only when nothing else is left."""
        is_picture = any(word in other for other in self._at.definition.axes for word in _PICTURE)
        return any(word in axis for word in _STRUCTURAL) or ("width" in axis and not is_picture)


def _is_ordered(small: str, large: str) -> bool:
    """Pages hold what is looked up in them; keys are no fewer than the queries that attend to them."""
    looks_up = "indices" in small and large in ("num_pages", "num_blocks")
    attends = (
        small.endswith("_q") and large.startswith(small[:-2]) and large[len(small) - 2 :] in ("_k", "_kv")
    )
    return looks_up or attends


def _empty_tensors(at: Resolved) -> set[str]:
    shapes = {**at.inputs, **at.outputs}
    return {name for name, shape in shapes.items() if shape is not None and math.prod(shape) <= 0}
