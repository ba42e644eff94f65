"""A genetic search over settings: tournaments, uniform crossover, steps of one knob."""

import random

from agents.templates.base import Knob, Knobs, KnobSpace
from agents.tuner import Places, nearest

_POPULATION = 12
_TOURNAMENT = 3
_MUTATION = 0.25
"""Chance a knob."""


class Genetic:
    """Steady state: the worst gives way as soon as there are more than the population holds."""

    def __init__(self, space: KnobSpace, seed: int) -> None:
        self._space, self._random = space, random.Random(seed)
        settings = [space.places_of(knobs) for knobs in space.settings()]
        self._random.shuffle(settings)
        self._left = dict.fromkeys(settings)
        self._alive: list[tuple[float, Places]] = []

    def ask(self) -> dict[str, Knob] | None:
        if not self._left:
            return None
        if len(self._alive) < _POPULATION:
            places = next(iter(self._left))
        else:
            places = nearest(self._left, self._child())
        del self._left[places]
        return self._space.at(places)

    def tell(self, knobs: Knobs, time_ms: float | None) -> None:
        if time_ms is not None:
            self._alive = sorted([*self._alive, (time_ms, self._space.places_of(knobs))])[:_POPULATION]

    def tell_rejected(self, knobs: Knobs) -> None:
        """It has no children."""

    def _child(self) -> Places:
        first, second = (min(self._random.sample(self._alive, _TOURNAMENT))[1] for _ in range(2))
        mixed = [self._random.choice(pair) for pair in zip(first, second, strict=True)]
        return tuple(
            self._stepped(place, len(values))
            for place, values in zip(mixed, self._space.choices.values(), strict=True)
        )

    def _stepped(self, place: int, choices: int) -> int:
        if self._random.random() >= _MUTATION:
            return place
        return max(0, min(choices - 1, place + self._random.choice((-1, 1))))
