"""Tuning by ask and tell: Optuna proposes settings of a knob space, never one twice, and learns from times."""

import random
from typing import Any

from agents.templates.base import Knob, Knobs, KnobSpace

_RANDOM_FIRST = 8
"""Settings before the model of past times takes over."""


class Tuner:
    """Deterministic for a seed and what it is told. Everything is kept in memory.

    What is rejected counts as worse than any time; what was accepted without a time teaches nothing. Where the
    model wants a setting that is known or not allowed, the nearest one that is left takes its place.
    """

    def __init__(self, space: KnobSpace, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._states = optuna.trial.TrialState
        self._space = space
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=_RANDOM_FIRST)
        self._study = optuna.create_study(sampler=sampler, direction="minimize")
        # places on a line rather than categories, so that what holds for 4 warps says something about 8
        self._distributions = {
            name: optuna.distributions.IntDistribution(0, len(values) - 1)
            for name, values in space.choices.items()
        }
        settings = [self._places(knobs) for knobs in space.settings()]
        random.Random(seed).shuffle(settings)
        self._left = dict.fromkeys(settings)
        suggested = dict.fromkeys(map(self._places, space.start))
        self._start = [places for places in suggested if places in self._left]
        self._trials: dict[tuple[int, ...], Any] = {}

    def ask(self) -> dict[str, Knob] | None:
        """A setting that was not asked before; None when there is none left."""
        if not self._left:
            return None
        places, trial = self._suggested() if self._start else self._modelled()
        self._trials[places] = trial
        del self._left[places]
        return {
            name: values[place]
            for (name, values), place in zip(self._space.choices.items(), places, strict=True)
        }

    def tell(self, knobs: Knobs, time_ms: float | None) -> None:
        """The time of a setting that works; None when it has none."""
        if time_ms is None:
            self._close(knobs, self._states.FAIL)
        else:
            self._close(knobs, self._states.COMPLETE, time_ms)

    def tell_rejected(self, knobs: Knobs) -> None:
        self._close(knobs, self._states.PRUNED)

    def _close(self, knobs: Knobs, state: Any, value: float | None = None) -> None:
        trial = self._trials.pop(self._places(knobs), None)
        if trial is not None:
            self._study.tell(trial, value, state=state)

    def _suggested(self) -> tuple[tuple[int, ...], Any]:
        places = self._start.pop(0)
        return places, self._fixed(places)

    def _modelled(self) -> tuple[tuple[int, ...], Any]:
        trial = self._study.ask(self._distributions)
        wanted = tuple(trial.params[name] for name in self._space.choices)
        if wanted in self._left:
            return wanted, trial
        self._study.tell(trial, state=self._states.FAIL)
        nearest = min(self._left, key=lambda left: _distance(left, wanted))
        return nearest, self._fixed(nearest)

    def _fixed(self, places: tuple[int, ...]) -> Any:
        self._study.enqueue_trial(dict(zip(self._space.choices, places, strict=True)))
        return self._study.ask(self._distributions)

    def _places(self, knobs: Knobs) -> tuple[int, ...]:
        """Where the value of each knob stands among its choices."""
        return tuple(values.index(knobs[name]) for name, values in self._space.choices.items())


def _distance(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    return sum(abs(a - b) for a, b in zip(first, second, strict=True))
