"""Scenes: what the times of fresh processes look like, slot after slot, when nothing or one thing changed.

A scene draws latencies of many problems at once, in the order in which the processes run. The arms are
then dealt by the guard's own order and located by its own location, so that the path is the production one.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.signal import lfilter
from scipy.stats import binomtest

from guard.comparison import Outcome, Rule
from guard.statistics.arrays import Integers
from guard.statistics.decision import OUTCOMES, Decisions, decide
from guard.statistics.location import log_location
from guard.statistics.order import interleaved_order

WORKLOADS = 16
MOST_PROCESSES = 20
ITERATIONS = 50
_AT_ONCE = 50
"""Problems drawn at once: keeps a draw of 20 v 20 processes of 50 iterations near 25 MB."""

MIXTURE_WEIGHTS = np.array([0.511, 0.277, 0.149, 0.064]) / 1.001
MIXTURE_SDS = np.array([0.00022, 0.00191, 0.0159, 0.172])
"""Process effects (log scale) seen between runs of one kernel on B200s: a tight core, a very heavy tail."""

Rng = np.random.Generator
Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


class Scene(NamedTuple):
    """`effects` are log process effects `[problems, workloads, slots]`; `times`, when given, iterations.

    `times(rng, centre)` takes positive centres `[...]` and returns latencies `[..., iterations]`. Without
    it, a process's location errs by the 0.125 % that 50 iterations of 0.7 % would leave.
    """

    name: str
    effects: Callable[[Rng, int, int, int], Array]
    times: Callable[[Rng, Array], Array] | None = None
    tick: float | None = None
    centre: float = 100.0


def normal_effects(sd: float) -> Callable[[Rng, int, int, int], Array]:
    return lambda rng, problems, workloads, slots: sd * rng.normal(size=(problems, workloads, slots))


def _iid(rng: Rng, problems: int, workloads: int, slots: int) -> Array:
    shape = (problems, workloads, slots)
    return rng.choice(MIXTURE_SDS, p=MIXTURE_WEIGHTS, size=shape) * rng.normal(size=shape)


def _het(rng: Rng, problems: int, workloads: int, slots: int) -> Array:
    own = rng.choice(MIXTURE_SDS, p=MIXTURE_WEIGHTS, size=(problems, workloads, 1))
    return own * rng.normal(size=(problems, workloads, slots))


def _two_process_modes(rng: Rng, problems: int, workloads: int, slots: int) -> Array:
    shape = (problems, workloads, slots)
    return np.where(rng.random(shape) < 0.5, 0.0, 0.05) + 0.002 * rng.normal(size=shape)


def _with_trend(trend: Callable[[Rng, int, int], Array]) -> Callable[[Rng, int, int, int], Array]:
    """Process effects of 0.3 % on a trend `[problems, slots]` that all workloads of a process share."""
    return lambda rng, problems, workloads, slots: (
        trend(rng, problems, slots)[:, None, :] + 0.003 * rng.normal(size=(problems, workloads, slots))
    )


def _each(curve: Array, problems: int) -> Array:
    return np.broadcast_to(curve, (problems, curve.size))


def _steps(rng: Rng, problems: int, slots: int) -> Array:
    """A clock that sits on one of two levels 1.5 % apart and changes with probability 0.08 a slot."""
    flips = rng.random((problems, slots)) < 0.08
    return 0.015 * (np.cumsum(flips, axis=1) % 2)


DRIFTS: dict[str, Callable[[Rng, int, int], Array]] = {
    "linear": lambda rng, problems, slots: _each(np.linspace(0, 0.01, slots), problems),
    "exponential": lambda rng, problems, slots: _each(0.03 * np.exp(-np.arange(slots) / 6), problems),
    "random walk": lambda rng, problems, slots: np.cumsum(
        0.01 / np.sqrt(slots) * rng.normal(size=(problems, slots)), axis=1
    ),
    "steps": _steps,
    "sinusoid": lambda rng, problems, slots: (
        0.01 * np.sin(np.linspace(0, 2 * np.pi, slots) + 2 * np.pi * rng.random((problems, 1)))
    ),
}


def _gaussian(rng: Rng, centre: Array) -> Array:
    return centre[..., None] * (1 + 0.007 * rng.normal(size=(*centre.shape, ITERATIONS)))


def _lognormal(rng: Rng, centre: Array) -> Array:
    return centre[..., None] * np.exp(0.03 * rng.normal(size=(*centre.shape, ITERATIONS)))


def correlated(rng: Rng, shape: tuple[int, ...], lag_one: float) -> Array:
    """AR(1) noise of standard deviation 1 along the last axis, already settled."""
    shocks = rng.normal(size=shape) * np.sqrt(1 - lag_one**2)
    shocks[..., 0] /= np.sqrt(1 - lag_one**2)
    return np.asarray(lfilter([1.0], [1.0, -lag_one], shocks, axis=-1))


def _ar1(rng: Rng, centre: Array) -> Array:
    return centre[..., None] * (1 + 0.007 * correlated(rng, (*centre.shape, ITERATIONS), 0.6))


def _bimodal(rng: Rng, centre: Array) -> Array:
    shape = (*centre.shape, ITERATIONS)
    return centre[..., None] * (1 + 0.03 * (rng.random(shape) < 0.3) + 0.003 * rng.normal(size=shape))


def ticked(times: Array, tick: float = 32.0) -> Array:
    """Times read on a clock that ticks: the difference of two readings, with a random phase."""
    phase = np.random.default_rng(7).random(times.shape[-1])
    return tick * (np.floor(times / tick + phase) - np.floor(phase))


def _ticks(rng: Rng, centre: Array) -> Array:
    """Nanoseconds, standard deviation 12 ns, read on a 32-ns clock, 1 % of them three times as long."""
    shape = (*centre.shape, ITERATIONS)
    times = centre[..., None] + 12 * rng.normal(size=shape)
    return ticked(np.where(rng.random(shape) < 0.01, 3 * times, times))


QUIET = Scene("processes differ by 0.3 %", normal_effects(0.003))
IID = Scene("heavy-tailed mixture, every process draws", _iid)
HET = Scene("heavy-tailed mixture, every kernel has its own", _het)
SCENES = (
    QUIET,
    IID,
    HET,
    Scene("processes differ by 1 %", normal_effects(0.01)),
    Scene("two modes of processes", _two_process_modes),
    Scene("drift", _with_trend(DRIFTS["linear"])),
    Scene("clock steps", _with_trend(DRIFTS["steps"])),
    Scene("gaussian iterations", normal_effects(0.003), _gaussian),
    Scene("lognormal iterations", normal_effects(0.003), _lognormal),
    Scene("AR(1) iterations", normal_effects(0.003), _ar1),
    Scene("bimodal iterations", normal_effects(0.003), _bimodal),
    Scene("32-ns ticks", normal_effects(0.003), _ticks, tick=32.0, centre=4_000.0),
)


class Dealt(NamedTuple):
    """What the processes of some problems will show: log centres and which arm ran, `[problems, workloads, slots]`."""

    scene: Scene
    logs: Array
    is_candidate: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]

    def located(self, rng: Rng, first: int, last: int, problems: Integers | slice) -> tuple[Array, Array]:
        """Log locations `[problems, workloads, last - first]` of each arm's processes `first` to `last`."""
        logs, dealt = self.logs[problems], self.is_candidate[problems]
        shape = (*logs.shape[:2], logs.shape[2] // 2)
        arms = (logs[mask].reshape(shape)[..., first:last] for mask in (~dealt, dealt))
        baseline, candidate = (self._locate(rng, arm) for arm in arms)
        return baseline, candidate

    def _locate(self, rng: Rng, logs: Array) -> Array:
        if self.scene.times is None:
            return logs + 0.00125 * rng.normal(size=logs.shape)
        return log_location(self.scene.times(rng, self.scene.centre * np.exp(logs)), self.scene.tick)


def deal(
    scene: Scene, rng: Rng, problems: int, processes: int, slowdown: Array, workloads: int = WORKLOADS
) -> Dealt:
    """Processes in the guard's order; `slowdown` `[workloads]` is what the candidate takes longer, relative."""
    slots = 2 * processes
    order = np.array([interleaved_order(processes, int(s)) for s in rng.integers(0, 2**31, problems)])
    is_candidate = (order == "B")[:, None, :]
    logs = scene.effects(rng, problems, workloads, slots) + is_candidate * np.log1p(slowdown)[:, None]
    return Dealt(scene, logs, np.broadcast_to(is_candidate, logs.shape))


def draw_arms(
    scene: Scene, rng: Rng, problems: int, processes: int, slowdown: Array, workloads: int = WORKLOADS
) -> tuple[Array, Array]:
    """Log locations `[problems, workloads, processes]` of baseline and candidate."""
    return deal(scene, rng, problems, processes, slowdown, workloads).located(rng, 0, processes, slice(None))


def decided(scene: Scene, rng: Rng, problems: int, rule: Rule, slowdown: Array) -> Decisions:
    """As the guard does: later processes are timed where a look at the first ones left something open."""
    if scene.times is None:  # nothing to spare where no iterations are drawn
        return decide(*draw_arms(scene, rng, problems, MOST_PROCESSES, slowdown), rule)
    dealt = deal(scene, rng, problems, MOST_PROCESSES, slowdown)
    first = rule.looks[0]
    early = dealt.located(rng, 0, first, slice(None))
    decisions = decide(*early, rule)
    open_ends = [OUTCOMES.index(outcome) for outcome in (Outcome.UNSTABLE, Outcome.INCONCLUSIVE)]
    left = np.flatnonzero(np.isin(decisions.outcome, open_ends).any(axis=1))
    late = dealt.located(rng, first, MOST_PROCESSES, left)
    baseline, candidate = (np.concatenate([a[left], b], axis=-1) for a, b in zip(early, late, strict=True))
    for whole, part in zip(decisions, decide(baseline, candidate, rule), strict=True):
        whole[left] = part
    return decisions


def play(
    scene: Scene, problems: int, rule: Rule, slow: float = 0.0, seed: int = 1, every: bool = False
) -> Decisions:
    """Decide `problems` whose first workload (`every`: all) is slower by `slow` in the candidate."""
    rng = np.random.default_rng(seed)
    slowdown = np.full(WORKLOADS, slow) * (np.ones(WORKLOADS) if every else np.arange(WORKLOADS) == 0)
    parts = []
    for start in range(0, problems, _AT_ONCE):
        parts.append(decided(scene, rng, min(_AT_ONCE, problems - start), rule, slowdown))
    return Decisions(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def share(decisions: Decisions, outcome: Outcome, workload: int = 0) -> float:
    """Share of problems in which that workload ended so."""
    return float((decisions.outcome[:, workload] == OUTCOMES.index(outcome)).mean())


def problems_with(decisions: Decisions, outcome: Outcome) -> int:
    """Problems in which any workload ended so."""
    return int((decisions.outcome == OUTCOMES.index(outcome)).any(axis=1).sum())


def upper_bound(hits: int, trials: int) -> float:
    """Upper end of the exact 99 % interval for the rate behind `hits` of `trials`."""
    return float(binomtest(hits, trials).proportion_ci(0.99, "exact").high)
