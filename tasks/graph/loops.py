"""Long loops run in part: iterations that differ by nothing, or evenly, are told from a few of them.

The first, the last and some between are run. Where all make the same calls, and every count of work and bytes
lies on a straight line over the iteration's number, those left out are counted by the two in their middle, which
is exact. Where not, each half is looked at by itself, down to single iterations.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

import torch

from tasks.graph.loop_syntax import LOOP, LoopFacts, rewrite_loops
from tasks.graph.recorder import Recorder
from tasks.graph.steps import Step

_SHORTEST = 12
_FEWEST_CALLS = 600
"""A loop that makes fewer calls than this in all is run in full."""


class Loops:
    """What the rewritten loops of one reference call."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.folded = 0
        self._facts: list[LoopFacts] = []

    def rewrite(self, tree: Any) -> dict[str, Any]:
        self._facts = rewrite_loops(tree)
        return {LOOP: self._loop}

    def _loop(self, numbers: Any, loop: int) -> Any:
        if not isinstance(numbers, range) or len(numbers) < _SHORTEST or not self.recorder.folds:
            return numbers
        frame = sys._getframe(1)
        return _Loop(self, numbers, self._facts[loop], frame).run()


class _Loop:
    def __init__(self, owner: Loops, numbers: range, facts: LoopFacts, frame: Any) -> None:
        self.owner, self.numbers, self.facts, self.frame = owner, numbers, facts, frame
        self.trace = owner.recorder.trace
        self.steps: dict[int, tuple[int, int]] = {}
        """Of each iteration that was run, where its steps begin and end."""
        self.stands: dict[int, int] = {}
        """For iterations left out, the one that stands for them."""
        self.lists: dict[str, list[Any]] = {}
        self.items: dict[int, dict[str, list[Any]]] = {}

    def run(self) -> Iterator[int]:
        count, before = len(self.numbers), self.trace.looked_at_values
        names, written = self.frame.f_locals, len(self.owner.recorder.overwritten)
        foldable = self._is_foldable(names)
        shapes = self._carried_shapes()
        yield from self._one(0)
        foldable = foldable and self.trace.looked_at_values == before and not self._writes_indices(written)
        start, end = self.steps[0]
        if not foldable or self._carried_shapes() != shapes or 0 < (end - start) * count < _FEWEST_CALLS:
            yield from self.numbers[1:]
            return
        self.lists = {n: v for n, v in names.items() if n in self.facts.appended and isinstance(v, list)}
        yield from self._one(count - 1)  # the first may do nothing, where a mask leaves it out
        if max(end - start for start, end in self.steps.values()) * count < _FEWEST_CALLS:
            yield from self._all(1, count - 1)
            self._fill_lists()
            return
        yield from self._cover(1, count)
        self._fill_lists()
        for tensor in self.owner.recorder.overwritten[written:]:
            self.owner.recorder.values.forget(tensor)

    def _is_foldable(self, names: dict[str, Any]) -> bool:
        if any(isinstance(names.get(name), list | tuple | dict) for name in self.facts.subscripted):
            return False
        carried = [names.get(name) for name in self.facts.carried if name in names]
        return all(isinstance(value, torch.Tensor) and value.is_floating_point() for value in carried)

    def _writes_indices(self, before: int) -> bool:
        """Whether values that may steer what follows depend on every iteration."""
        return any(not tensor.is_floating_point() for tensor in self.owner.recorder.overwritten[before:])

    def _carried_shapes(self) -> list[Any]:
        names = self.frame.f_locals
        found = [names.get(name) for name in sorted(self.facts.carried)]
        return [(v.shape, v.dtype) if isinstance(v, torch.Tensor) else v for v in found]

    def _one(self, index: int) -> Iterator[int]:
        """Run one iteration, and remember its steps and what it appended."""
        names = self.frame.f_locals
        lists = {n: v for n, v in names.items() if n in self.facts.appended and isinstance(v, list)}
        lengths = {name: len(value) for name, value in lists.items()}
        start = len(self.trace.steps)
        yield self.numbers[index]
        self.steps[index] = (start, len(self.trace.steps))
        self.items[index] = {name: value[lengths[name] :] for name, value in lists.items()}

    def _cover(self, low: int, high: int) -> Iterator[int]:
        """Account for the iterations from `low` to before `high`."""
        if high - low <= 6:
            yield from self._all(low, high)
            return
        middle = (low + high - 1) // 2
        quarter = (high - low) // 4
        probes = {
            low,
            high - 1,
            middle,
            middle + 1,
            low + quarter,
            high - 1 - quarter,
            low + 1 + quarter // 3,
        }
        yield from self._some(probes)
        run = sorted(index for index in self.steps if low <= index < high)
        if not self._even(run):
            yield from self._cover(low, middle + 1)
            yield from self._cover(middle + 1, high)
            return
        yield from self._represent(low, high)

    def _all(self, low: int, high: int) -> Iterator[int]:
        yield from self._some(range(low, high))

    def _some(self, wanted: Iterable[int]) -> Iterator[int]:
        for index in sorted(wanted):
            if index not in self.steps:
                yield from self._one(index)

    def _represent(self, low: int, high: int) -> Iterator[int]:
        """Let two neighbours stand for those left out, at whose mean they lie."""
        while True:
            left = [index for index in range(low, high) if index not in self.steps]
            if not left:
                return
            total = sum(left)
            lower = min(total // len(left), high - 2)
            if lower in self.steps and lower + 1 in self.steps:
                break
            yield from self._some((lower, lower + 1))
        upper = total - lower * len(left)
        self._times(lower, len(left) - upper)
        self._times(lower + 1, upper)
        for index in left:
            self.stands[index] = lower
        self.owner.folded += len(left)

    def _times(self, index: int, more: int) -> None:
        start, end = self.steps[index]
        for step in self.trace.steps[start:end]:
            step.times *= 1 + more

    def _even(self, run: list[int]) -> bool:
        """Whether these iterations make the same calls, with counts on a straight line."""
        first, last = run[0], run[-1]
        calls = [_calls(self._of(index)) for index in run]
        if any(one != calls[0] for one in calls):
            return False
        begin, end = _counts(self._of(first)), _counts(self._of(last))
        for index in run[1:-1]:
            share = (index - first) / (last - first)
            for low, here, high in zip(begin, _counts(self._of(index)), end, strict=True):
                if abs(low + share * (high - low) - here) > 1e-6 * max(low, high) + 1e-9:
                    return False
        return True

    def _of(self, index: int) -> list[Step]:
        start, end = self.steps[index]
        return self.trace.steps[start:end]

    def _fill_lists(self) -> None:
        """Lists get as many items as if every iteration had run, in order."""
        for name, values in self.lists.items():
            appended = sum(len(items.get(name, ())) for items in self.items.values())
            first = len(values) - appended
            del values[first:]
            for index in range(len(self.numbers)):
                values.extend(self.items[self.stands.get(index, index)].get(name, ()))


def _calls(steps: list[Step]) -> list[Any]:
    return [step.function for step in steps]


def _counts(steps: list[Step]) -> list[int]:
    counts = []
    for step in steps:
        work = step.work
        counts += [step.times, sum(work.flops.values()), work.vector, sum(work.reads), work.written]
    return counts
