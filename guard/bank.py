"""What the reference may keep between candidates: inputs and expected values, within a budget of bytes."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

SEEDS = {"cuda": 64, "cpu": 4}
"""Seeds a workload, so that their values may be kept between candidates; none is used twice in one process.
On a CPU hardly more than a process needs: drawing is what costs there, and no candidate is told of another's."""


@dataclass(frozen=True)
class Drawn:
    """One set of inputs in definition order, and what the reference makes of it."""

    inputs: tuple[Any, ...]
    expected: tuple[torch.Tensor, ...]

    @property
    def bytes(self) -> int:
        tensors = [t for t in (*self.inputs, *self.expected) if isinstance(t, torch.Tensor)]
        return sum(t.untyped_storage().nbytes() for t in tensors)


class Bank:
    """The most recently used sets that fit `budget_bytes`; timings are never kept here."""

    def __init__(self, budget_bytes: int) -> None:
        self.budget_bytes, self.held_bytes = budget_bytes, 0
        self._sets: OrderedDict[Hashable, Drawn] = OrderedDict()

    def get(self, key: Hashable) -> Drawn | None:
        drawn = self._sets.get(key)
        if drawn is not None:
            self._sets.move_to_end(key)
        return drawn

    def put(self, key: Hashable, drawn: Drawn) -> None:
        if drawn.bytes > self.budget_bytes:
            return
        self._sets[key] = drawn
        self.held_bytes += drawn.bytes
        while self.held_bytes > self.budget_bytes:
            _, oldest = self._sets.popitem(last=False)
            self.held_bytes -= oldest.bytes

    def has_room(self, size: int) -> bool:
        """Whether `size` bytes more would drive nothing out."""
        return self.held_bytes + size <= self.budget_bytes

    def clear(self) -> None:
        self._sets.clear()
        self.held_bytes = 0


def tensors_of(values: Sequence[Any]) -> list[torch.Tensor]:
    return [value for value in values if isinstance(value, torch.Tensor)]
