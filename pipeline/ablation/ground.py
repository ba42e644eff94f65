"""One shape of a recorded landscape as a ground to search on: every setting answers with its recorded time."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from agents.templates.base import Knob, Knobs, KnobSpace
from agents.warm_start.record import Record, Shape
from agents.warm_start.surrogate import by_shape

Key = tuple[tuple[str, Knob], ...]


@dataclass(frozen=True)
class Ground:
    shape: Shape
    records: tuple[Record, ...]
    """One a setting, all with the same knobs."""

    @property
    def family(self) -> str:
        return self.shape[0]

    @property
    def axes(self) -> dict[str, int]:
        return dict(self.shape[1])

    @property
    def name(self) -> str:
        return f"{self.family} {' '.join(f'{axis}={size}' for axis, size in self.shape[1])}"

    @cached_property
    def by_knobs(self) -> dict[Key, Record]:
        return {key_of(record.knobs): record for record in self.records}

    @cached_property
    def space(self) -> KnobSpace:
        """Every knob with the values that were recorded; allowed is what was recorded."""
        names = sorted(self.records[0].knobs)
        values = {name: {key: None for key in (r.knobs[name] for r in self.records)} for name in names}
        choices = {name: tuple(sorted(some, key=_order)) for name, some in values.items()}
        return KnobSpace(choices=choices, allows=lambda knobs: key_of(knobs) in self.by_knobs)

    @cached_property
    def best_ms(self) -> float:
        return min(record.ms for record in self.records if record.ms is not None)

    def record(self, knobs: Knobs) -> Record:
        return self.by_knobs[key_of(knobs)]

    def nearest(self, knobs: Knobs) -> Knobs:
        """The recorded setting that differs from `knobs` in the fewest steps; itself, where it was recorded."""
        known = self.by_knobs.get(key_of(knobs))
        if known is not None:
            return known.knobs
        return min((record.knobs for record in self.records), key=lambda other: _steps(knobs, other))

    def near(self, share: float) -> int:
        """How many settings reach that share of the best."""
        return sum(record.ms is not None and self.best_ms / record.ms >= share for record in self.records)


def key_of(knobs: Mapping[str, Knob]) -> Key:
    return tuple(sorted(knobs.items()))


def grounds(records: Iterable[Record], fewest: int = 8) -> list[Ground]:
    """A ground a shape with at least `fewest` times; files of one shape make one ground.

    A knob that older files lack has its least value there (False, or one part); of a setting that was recorded
    twice the first stands.
    """
    found = []
    for shape, some in by_shape(records).items():
        names = dict.fromkeys(name for record in some for name in record.knobs)
        neutral = {n: min((r.knobs[n] for r in some if n in r.knobs), key=_order) for n in names}
        settings: dict[Key, Record] = {}
        for record in some:
            knobs = {**neutral, **record.knobs}
            settings.setdefault(key_of(knobs), record.model_copy(update={"knobs": knobs}))
        if sum(r.ms is not None for r in settings.values()) >= fewest:
            found.append(Ground(shape, tuple(settings.values())))
    return found


def nearest_ground(ground: Ground, others: Sequence[Ground]) -> Ground | None:
    """Of the same family, the one whose sizes are nearest by their logarithms."""
    alike = [
        g for g in others if g.family == ground.family and g.axes.keys() == ground.axes.keys() and g != ground
    ]
    return min(alike, key=lambda g: _distance(g.axes, ground.axes), default=None)


def _distance(first: Mapping[str, int], second: Mapping[str, int]) -> float:
    return sum((math.log1p(size) - math.log1p(second[axis])) ** 2 for axis, size in first.items())


def _steps(first: Knobs, second: Knobs) -> float:
    """Halvings and doublings, and one for each text or switch that differs, or that one of them lacks."""
    return sum(_step(first.get(name), value) for name, value in second.items())


def _step(first: Knob | None, second: Knob) -> float:
    if first == second:
        return 0.0
    plain = (isinstance(value, int) and not isinstance(value, bool) for value in (first, second))
    return abs(math.log2((1 + int(first or 0)) / (1 + int(second)))) if all(plain) else 1.0


def _order(value: Knob) -> tuple[int, float, str]:
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")
