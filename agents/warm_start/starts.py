"""Which settings of a family to try first on a task, by what was recorded of other shapes."""

from collections.abc import Sequence

import numpy as np

from agents.templates.base import Knobs, KnobSpace
from agents.warm_start.features import Axes, suits
from agents.warm_start.record import Record
from agents.warm_start.surrogate import Surrogate, is_installed

Starts = dict[str, tuple[dict[str, bool | int | str], ...]]
"""Settings by family, the most promising first."""

_MOST_SETTINGS = 4096
"""Of a family that are looked at; none here has so many."""


def predicted_starts(
    records: Sequence[Record], family: str, shapes: Sequence[Axes], space: KnobSpace, count: int, seed: int
) -> tuple[dict[str, bool | int | str], ...]:
    """At most `count` settings of `space`, the one with the least predicted time over all `shapes` first.

    Empty where nothing is known: no record of the family, or no scikit-learn.
    """
    if not is_installed() or not any(record.family == family for record in records):
        return ()
    settings = [dict(knobs) for knobs, _ in zip(space.settings(), range(_MOST_SETTINGS), strict=False)]
    try:
        surrogate = Surrogate(records, seed)
    except ValueError:
        return ()
    groups = [ranked(surrogate, family, some, settings) for some in _kinds(family, shapes, settings)]
    turns = [
        group[place]
        for place in range(max(map(len, groups), default=0))
        for group in groups
        if place < len(group)
    ]
    return tuple(settings[place] for place in dict.fromkeys(turns))[:count]


def ranked(surrogate: Surrogate, family: str, shapes: Sequence[Axes], settings: Sequence[Knobs]) -> list[int]:
    """Places of the settings that are for these shapes, the most promising first."""
    sums = np.zeros(len(settings))
    for axes in shapes:
        sums += surrogate.behind(family, axes, settings)
    return [
        int(place) for place in np.argsort(sums, kind="stable") if suits(family, shapes[0], settings[place])
    ]


def _kinds(family: str, shapes: Sequence[Axes], settings: Sequence[Knobs]) -> list[list[Axes]]:
    """Shapes that the same settings are for stand together; others get their turns apart."""
    kinds: dict[tuple[bool, ...], list[Axes]] = {}
    for axes in shapes:
        kinds.setdefault(tuple(suits(family, axes, knobs) for knobs in settings), []).append(axes)
    return list(kinds.values())
