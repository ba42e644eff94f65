"""Optuna's tree of Parzen estimators."""

from collections.abc import Collection, Mapping
from typing import Any

from agents.tuner import Places, nearest

_RANDOM_FIRST = 8
"""Settings before the model of past times takes over."""


class Tpe:
    def __init__(self, sizes: Mapping[str, int], seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self._states = optuna.trial.TrialState
        sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=_RANDOM_FIRST)
        self._study = optuna.create_study(sampler=sampler, direction="minimize")
        # places on a line rather than categories, so that what holds for 4 warps says something about 8
        self._distributions = {
            name: optuna.distributions.IntDistribution(0, size - 1) for name, size in sizes.items()
        }
        self._trials: dict[Places, Any] = {}

    def wanted(self, left: Collection[Places]) -> Places:
        trial = self._study.ask(self._distributions)
        wanted = tuple(trial.params[name] for name in self._distributions)
        if wanted in left:
            self._trials[wanted] = trial
            return wanted
        self._study.tell(trial, state=self._states.FAIL)
        places = nearest(left, wanted)
        self.given(places)
        return places

    def given(self, places: Places) -> None:
        self._study.enqueue_trial(dict(zip(self._distributions, places, strict=True)))
        self._trials[places] = self._study.ask(self._distributions)

    def told(self, places: Places, ms: float | None, rejected: bool) -> None:
        trial = self._trials.pop(places)
        if rejected:
            self._study.tell(trial, None, state=self._states.PRUNED)
        elif ms is None:
            self._study.tell(trial, None, state=self._states.FAIL)
        else:
            self._study.tell(trial, ms, state=self._states.COMPLETE)
