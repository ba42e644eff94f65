"""How one axis shrinks, and what a smaller set of axes must not break."""

import math
from collections.abc import Mapping
from itertools import permutations

from tasks.definition import Definition

ALIGNMENTS = (128, 16, 1)
"""What is kept of an axis's divisibility: first all, and less only where memory does not allow it."""

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
)
_COUNTS = ("batch", "indptr", "num_seqs", "num_sequences")


def shrunk_size(axis: str, size: int, halvings: int, alignment: int) -> int:
    """`size` halved `halvings` times: at least 1, aligned as before (up to `alignment`), odd if it was odd.

    Counts of sequences are aligned to nothing; an axis of index pointers has one entry more than sequences.
    """
    if size <= 1 or halvings == 0:
        return size
    if "indptr" in axis:
        return 1 + shrunk_size("batch", size - 1, halvings, alignment)
    step = 1 if any(word in axis for word in _COUNTS) else _alignment(size, alignment)
    units = max((size // step) >> halvings, 1)
    if step == 1 and size % 2 and units > 1:
        units |= 1
    return units * step


def _alignment(size: int, most: int) -> int:
    return next((step for step in ALIGNMENTS if step <= most and size % step == 0), 1)


class Bounds:
    """What held of one workload's axes before, and has to hold after."""

    def __init__(self, original: Mapping[str, int], definition: Definition) -> None:
        self._definition = definition
        self._empty = _empty_tensors(definition, original)
        pairs = [(a, b) for a, b in permutations(definition.var_axes, 2) if original[a] <= original[b]]
        self._ordered = [(a, b) for a, b in pairs if _is_ordered(a, b)]
        self._divides = [
            (a, b) for a, b in pairs
            if "head" in a and "head" in b and original[a] > 0 and original[b] % original[a] == 0
        ]  # fmt: skip

    def allow(self, axes: Mapping[str, int]) -> bool:
        """No axis expression fails, no tensor becomes empty; orders and divisibility of heads are kept."""
        try:
            empty = _empty_tensors(self._definition, axes)
        except ValueError:
            return False
        return (
            empty <= self._empty
            and all(axes[a] <= axes[b] for a, b in self._ordered)
            and all(axes[b] % axes[a] == 0 for a, b in self._divides)
        )

    @staticmethod
    def is_structural(axis: str) -> bool:
        """Sizes of the model, which shrink only when nothing else is left."""
        return any(word in axis for word in _STRUCTURAL)


def _is_ordered(small: str, large: str) -> bool:
    """Pages hold what is looked up in them; keys are no fewer than the queries that attend to them."""
    looks_up = "indices" in small and large in ("num_pages", "num_blocks")
    attends = (
        small.endswith("_q") and large.startswith(small[:-2]) and large[len(small) - 2 :] in ("_k", "_kv")
    )
    return looks_up or attends


def _empty_tensors(definition: Definition, axes: Mapping[str, int]) -> set[str]:
    shapes = {**definition.input_shapes(axes), **definition.output_shapes(axes)}
    return {name for name, shape in shapes.items() if shape is not None and math.prod(shape) <= 0}
