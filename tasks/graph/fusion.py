"""Fusion groups: which operations can live in one kernel, found in one pass over the steps.

A step joins the youngest group that it reads from, or begins one. Groups so depend on older ones alone, and no
cycle can arise. What is cheap to compute from the graph's inputs (a cast, a look-up, a dequantisation) floats: it
belongs to whichever groups need it, and each of them computes it again rather than read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from tasks.graph.borders import Borders
from tasks.graph.fusion_rules import Draft, effective_kind, joins, kind_after
from tasks.graph.model import Group, Tensor
from tasks.graph.steps import Step

DEAREST_FLOAT = 1.25
"""Bytes that may be read for each byte that is not: indices and scales come on top of values."""
LONGEST_FLOAT = 8
"""Steps that are computed again, at most, for one value."""


def fuse(steps: Sequence[Step], inputs: Sequence[Tensor], results: Sequence[str]) -> tuple[Group, ...]:
    """Every step but views is in one group, or recomputed by those that need it."""
    return _Fusion(steps, inputs, results).groups()


class _Fusion:
    def __init__(self, steps: Sequence[Step], inputs: Sequence[Tensor], results: Sequence[str]) -> None:
        self.steps, self.results = steps, dict.fromkeys(results)
        self.bytes = {tensor.name: tensor.bytes for tensor in inputs}
        self.drafts: list[Draft] = []
        self.group_of: dict[str, int] = {}
        self.floating: dict[str, Step] = {}
        self.depth: dict[str, int] = {}
        self.sources: dict[str, dict[str, int]] = {}
        self.mutated = {step.mutates for step in steps if step.mutates}

    def groups(self) -> tuple[Group, ...]:
        for step in self.steps:
            if step.work.kind == "view":
                continue
            for made in step.outputs:
                self.bytes[made.name] = prod(made.shape) * made.dtype.itemsize
            if not self._floats(step):
                self._place(step)
        for name in self.results:
            if name in self.floating:
                self._place(self.floating.pop(name))
        return Borders(self.drafts, self.floating, self.sources, self.bytes, set(self.results)).groups()

    def _place(self, step: Step) -> None:
        """Into the youngest group that makes what it reads, if it fits there."""
        reads = [*step.roots, *([step.mutates] if step.mutates else [])]
        owners = [self.group_of[root] for root in reads if root in self.group_of]
        number = max(owners, default=-1)
        if number >= 0 and joins(self.drafts[number], step, self._edge(step, number)):
            draft = self.drafts[number]
            draft.kind = kind_after(draft, step)
        else:
            number = len(self.drafts)
            draft = Draft(effective_kind(step), step.times)
            self.drafts.append(draft)
        draft.add(step)
        for made in step.outputs:
            self.group_of[made.name] = number

    def _edge(self, step: Step, number: int) -> int:
        """Bytes, as a number of elements at most, that `step` reads of what a group makes."""
        made = self.drafts[number].made
        return max((self.bytes.get(root, 0) for root in step.roots if root in made), default=0)

    def _floats(self, step: Step) -> bool:
        """Whether it is cheap to do wherever it is needed; if so, what it then reads is noted."""
        if step.mutates or len(step.outputs) != 1 or step.name in self.mutated:
            return False
        if step.work.kind == "make":
            found: dict[str, int] = {}
        elif step.work.kind in ("pointwise", "gather"):
            cheap = self._cheap_sources(step)
            if cheap is None:
                return False
            found = cheap
        else:
            return False
        self.floating[step.name], self.sources[step.name] = step, found
        self.depth[step.name] = 1 + max((self.depth.get(root, 0) for root in step.roots), default=0)
        return True

    def _cheap_sources(self, step: Step) -> dict[str, int] | None:
        """Bytes by input that it is made from; `None` when that is no less than the result, or far away."""
        found: dict[str, int] = {}
        for root, read in zip(step.roots, step.work.reads, strict=True):
            if root in self.group_of or self.depth.get(root, 0) >= LONGEST_FLOAT:
                return None
            whole = max(self.bytes.get(root, 1), 1)
            for source, amount in self.sources.get(root, {root: whole}).items():
                part = found.get(source, 0) + amount * min(read, whole) // whole
                found[source] = min(part, max(self.bytes.get(source, part), amount))
        return found if sum(found.values()) <= step.work.written * DEAREST_FLOAT + 64 else None
