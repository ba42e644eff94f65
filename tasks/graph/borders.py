"""What crosses the border of each fusion group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tasks.gpu import Arithmetic
from tasks.graph.fusion_rules import Draft
from tasks.graph.model import Group
from tasks.graph.steps import Region, Step


class Borders:
    """Turns drafts into groups once all are known: what a group writes depends on what others read."""

    def __init__(
        self, drafts: Sequence[Draft], floating: Mapping[str, Step], sources: dict[str, dict[str, int]],
        sizes: Mapping[str, int], results: set[str],
    ) -> None:  # fmt: skip
        self.drafts, self.floating, self.sources, self.sizes = drafts, floating, sources, sizes
        self.results = results
        steps = [*floating.values(), *(step for draft in drafts for step in draft.steps)]
        self.order = {step.name: step.number for step in steps}
        self.home: set[str] = set()
        """Floating steps that a group already holds."""

        self.again: dict[str, Step] = dict(floating)
        """Floating steps, and those of groups that read less than they write: casts to wider types, repeats."""
        for draft in drafts:
            for step in draft.steps:
                self._note_narrow(step)

    def _note_narrow(self, step: Step) -> None:
        if step.work.kind != "pointwise" or step.mutates or len(step.outputs) != 1 or len(step.roots) != 1:
            return
        root = step.roots[0]
        whole = max(self.sizes.get(root, 1), 1)
        read = min(step.work.reads[0], whole)
        parts = {s: amount * read // whole for s, amount in self.sources.get(root, {root: whole}).items()}
        if 0 < sum(parts.values()) < step.work.written and step.name not in self.results:
            self.sources[step.name], self.again[step.name] = parts, step

    def groups(self) -> tuple[Group, ...]:
        found = [self._inside(draft) for draft in self.drafts]
        needed = self.results.union(*(reads for reads, _ in found)) if found else set()
        return tuple(
            self._group(draft, reads, floating, needed)
            for draft, (reads, floating) in zip(self.drafts, found, strict=True)
        )

    def _inside(self, draft: Draft) -> tuple[dict[str, int], list[str]]:
        """Bytes read by what is read, and the floating steps done here."""
        parts: dict[tuple[str, Region | None], int] = {}
        floating: dict[str, None] = {}
        for step in draft.steps:
            for root, region, read in zip(step.roots, step.regions, step.work.reads, strict=True):
                if root in draft.made or not read:
                    continue
                for source, amount in self._read(root, read, floating).items():
                    key = (source, region if source == root else None)
                    parts[key] = max(parts.get(key, 0), amount)
        reads: dict[str, int] = {}
        for (source, _), amount in parts.items():
            reads[source] = min(reads.get(source, 0) + amount, max(self.sizes.get(source, amount), amount))
        return {source: amount * draft.times for source, amount in reads.items()}, list(floating)

    def _read(self, root: str, read: int, floating: dict[str, None]) -> dict[str, int]:
        """What reading `read` bytes of `root` means: of a floating value, its sources' share."""
        if root not in self.again:
            return {root: read}
        self._note_floating(root, floating)
        whole = max(self.sizes.get(root, read), 1)
        return {
            source: -(-amount * min(read, whole) // whole) for source, amount in self.sources[root].items()
        }

    def _note_floating(self, root: str, floating: dict[str, None]) -> None:
        left = [root]
        while left:
            name = left.pop()
            if name in self.again and name not in floating:
                floating[name] = None
                left.extend(self.again[name].roots)

    def _group(self, draft: Draft, reads: dict[str, int], floating: list[str], needed: set[str]) -> Group:
        own = [name for name in floating if name in self.floating and name not in self.home]
        self.home.update(own)
        flops: dict[Arithmetic, int] = {}
        for step in draft.steps:
            for arithmetic, amount in step.work.flops.items():
                flops[arithmetic] = flops.get(arithmetic, 0) + amount * draft.times
        again = sum(self.again[name].work.vector for name in floating)
        return Group.model_construct(
            nodes=tuple(sorted([*own, *(step.name for step in draft.steps)], key=self.order.__getitem__)),
            kind=draft.kind,
            reads=reads,
            writes=self._writes(draft, needed),
            flops=flops,
            vector_operations=(again + sum(step.work.vector for step in draft.steps)) * draft.times,
            recomputed=tuple(name for name in floating if name not in own),
            times=draft.times,
        )

    def _writes(self, draft: Draft, needed: set[str]) -> dict[str, int]:
        writes: dict[str, int] = {}
        last = {step.mutates: step.name for step in draft.steps if step.mutates}
        for step in draft.steps:
            for made in step.outputs:
                if step.mutates:  # memory that others see, whoever reads it next
                    writes[made.name] = step.work.written * draft.times
                elif made.name in needed and made.root == made.name and made.name not in last:
                    writes[made.name] = self.sizes[made.name] * draft.times
        return writes
