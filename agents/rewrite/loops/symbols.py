"""Names of the dimensions that a step works over, and which of them have to be the same."""

import re

from agents.rewrite.loops.recurrence import NoLoop
from agents.rewrite.program import Vector

MIXES = "a step mixes the places of a dimension with each other, as a product with a matrix does"
_NAME = re.compile(r"\bd\d+\b")


class Symbols:
    """A dimension has one name wherever it is kept from step to step; a sum runs over one of its own until then."""

    def __init__(self) -> None:
        self.sizes: dict[str, Vector] = {}
        self.changed = False
        self._parents: dict[str, str] = {}
        self._keys: dict[object, str] = {}
        self._apart: set[frozenset[str]] = set()

    def named(self, key: object, size: Vector) -> str:
        """The name of the dimension that `key` stands for; "0" where there is one place only."""
        if set(size) == {1}:
            return "0"
        if key not in self._keys:
            name = f"d{len(self._keys)}"
            self._keys[key], self._parents[name], self.sizes[name] = name, name, size
        return self.find(self._keys[key])

    def find(self, name: str) -> str:
        while self._parents[name] != name:
            name = self._parents[name]
        return name

    def is_one(self, part: str) -> bool:
        return part in self._parents

    def same(self, one: str, other: str) -> None:
        """The two are one dimension; `NoLoop` where their sizes differ or they have met in one value."""
        one, other = self.find(one), self.find(other)
        if one == other:
            return
        if self.sizes[one] != self.sizes[other]:
            raise NoLoop("what is kept from step to step has other sizes than what is read")
        self.changed = True
        first, second = sorted((one, other), key=lambda name: int(name[1:]))
        self._parents[second] = first
        for pair in list(self._apart):
            if second in pair:
                self._apart.add(frozenset(first if name == second else name for name in pair))
        if any(len(pair) == 1 for pair in self._apart):
            raise NoLoop(
                "a step mixes the places of a dimension with each other, as a product with a matrix does"
            )

    def meet(self, names: frozenset[str]) -> None:
        """These stand in one value, so they are different dimensions."""
        ordered = sorted(names)
        for place, one in enumerate(ordered):
            for other in ordered[place + 1 :]:
                self._apart.add(frozenset((one, other)))

    def may_be_same(self, one: str, other: str) -> bool:
        return self.sizes[one] == self.sizes[other] and frozenset((one, other)) not in self._apart

    def inside(self, text: str) -> frozenset[str]:
        """The dimensions that an index speaks of."""
        return frozenset(self.find(name) for name in _NAME.findall(text) if name in self._parents)
