"""Tuning by ask and tell: a model of past times proposes settings of a knob space, never one twice."""

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal, Protocol

from agents.templates.base import Knob, Knobs, KnobSpace

Places = tuple[int, ...]
"""Where the value of each knob stands among its choices."""
Learner = Literal["tpe", "lfbo"]


class Model(Protocol):
    """What stands behind a tuner. Deterministic for its seed and what it is told."""

    def wanted(self, left: Collection[Places]) -> Places:
        """One of `left`, to be tried next."""
        ...

    def given(self, places: Places) -> None:
        """These are tried next, whatever the model wants."""
        ...

    def told(self, places: Places, ms: float | None, rejected: bool) -> None:
        """What became of places that were wanted or given. No time and not rejected: nothing was measured."""
        ...


class Tuner:
    """Deterministic for a seed and what it is told. Everything is kept in memory.

    What is rejected counts as worse than any time; what was accepted without a time teaches nothing. Where the
    model wants a setting that is known or not allowed, the nearest one that is left takes its place.
    """

    def __init__(
        self, space: KnobSpace, seed: int, learner: Learner = "tpe", first: Sequence[Knobs] = ()
    ) -> None:
        """`first`: settings that stand before those that the space itself suggests; what it lacks is passed over."""
        self._space = space
        self._model = _MODELS[learner]({name: len(values) for name, values in space.choices.items()}, seed)
        settings = [space.places_of(knobs) for knobs in space.settings()]
        random.Random(seed).shuffle(settings)
        self._left = dict.fromkeys(settings)
        known = [knobs for knobs in first if self._is_in(knobs)]
        suggested = dict.fromkeys(map(space.places_of, (*known, *space.start)))
        self._start = [places for places in suggested if places in self._left]
        self._open: set[Places] = set()

    def ask(self) -> dict[str, Knob] | None:
        """A setting that was not asked before; None when there is none left."""
        if not self._left:
            return None
        if self._start:
            places = self._start.pop(0)
            self._model.given(places)
        else:
            places = self._model.wanted(self._left)
        self._open.add(places)
        del self._left[places]
        return self._space.at(places)

    def tell(self, knobs: Knobs, time_ms: float | None) -> None:
        """The time of a setting that works; None when it has none."""
        self._close(knobs, time_ms, rejected=False)

    def tell_rejected(self, knobs: Knobs) -> None:
        self._close(knobs, None, rejected=True)

    def _close(self, knobs: Knobs, time_ms: float | None, rejected: bool) -> None:
        places = self._space.places_of(knobs)
        if places in self._open:
            self._open.discard(places)
            self._model.told(places, time_ms, rejected)

    def _is_in(self, knobs: Knobs) -> bool:
        return knobs.keys() == self._space.choices.keys() and all(
            knobs[name] in values for name, values in self._space.choices.items()
        )


def nearest(left: Collection[Places], wanted: Places) -> Places:
    return min(left, key=lambda each: sum(abs(a - b) for a, b in zip(each, wanted, strict=True)))


def _tpe(sizes: Mapping[str, int], seed: int) -> Model:
    from agents.tuning.tpe import Tpe

    return Tpe(sizes, seed)


def _lfbo(sizes: Mapping[str, int], seed: int) -> Model:
    from agents.tuning.lfbo import Lfbo

    return Lfbo(sizes, seed)


_MODELS: dict[Learner, Callable[[Mapping[str, int], int], Model]] = {"tpe": _tpe, "lfbo": _lfbo}
