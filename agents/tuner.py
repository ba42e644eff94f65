"""Tuning by ask and tell: Optuna proposes settings of a knob space, never one twice, and learns from times."""

import random
import warnings
from typing import Any

from agents.templates.base import Knob, Knobs, KnobSpace

_RANDOM_FIRST = 8
"""Settings before the model of past times takes over."""
_PATIENCE = 64
"""Asks of the model that may fall on something known or not allowed before the next unknown setting is taken."""


class Tuner:
    """Deterministic for a seed and what it is told. Everything is kept in memory.

    What is rejected counts as worse than any time; what was accepted without a time teaches nothing.
    """

    def __init__(self, space: KnobSpace, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._optuna = optuna
        self._space = space
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=_RANDOM_FIRST)
        self._study = optuna.create_study(sampler=sampler, direction="minimize")
        self._distributions = {
            name: optuna.distributions.CategoricalDistribution(values)
            for name, values in space.choices.items()
        }
        self._left = {_key(knobs): knobs for knobs in space.settings()}
        self._spare = list(self._left)
        random.Random(seed).shuffle(self._spare)
        self._start = [dict(knobs) for knobs in space.start if _key(knobs) in self._left]
        self._trials: dict[tuple[Any, ...], Any] = {}

    def ask(self) -> dict[str, Knob] | None:
        """A setting that was not asked before; None when there is none left."""
        if not self._left:
            return None
        trial = self._from_start() or self._from_model() or self._from_spare()
        knobs = dict(trial.params)
        self._trials[_key(knobs)] = trial
        del self._left[_key(knobs)]
        return knobs

    def tell(self, knobs: Knobs, time_ms: float | None) -> None:
        """The time of a setting that works; None when it has none."""
        if time_ms is None:
            self._close(knobs, self._optuna.trial.TrialState.FAIL)
        else:
            self._close(knobs, self._optuna.trial.TrialState.COMPLETE, time_ms)

    def tell_rejected(self, knobs: Knobs) -> None:
        self._close(knobs, self._optuna.trial.TrialState.PRUNED)

    def _close(self, knobs: Knobs, state: Any, value: float | None = None) -> None:
        trial = self._trials.pop(_key(knobs), None)
        if trial is not None:
            self._study.tell(trial, value, state=state)

    def _from_start(self) -> Any | None:
        while self._start:
            knobs = self._start.pop(0)
            if _key(knobs) in self._left:
                return self._fixed(knobs)
        return None

    def _from_model(self) -> Any | None:
        for _ in range(_PATIENCE):
            trial = self._study.ask(self._distributions)
            if _key(trial.params) in self._left:
                return trial
            self._study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        return None

    def _from_spare(self) -> Any:
        while self._spare[-1] not in self._left:
            self._spare.pop()
        return self._fixed(self._left[self._spare[-1]])

    def _fixed(self, knobs: Knobs) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", self._optuna.exceptions.ExperimentalWarning)
            self._study.enqueue_trial(dict(knobs))
        return self._study.ask(self._distributions)


def _key(knobs: Knobs) -> tuple[Any, ...]:
    return tuple(sorted(knobs.items()))
