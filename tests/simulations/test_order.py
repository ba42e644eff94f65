"""Why the arms are interleaved: a drift that touches all processes alike."""

import numpy as np
import pytest

from guard.statistics.order import interleaved_order
from guard.statistics.rank_tests import mann_whitney_greater
from tests.simulations.scenes import DRIFTS, Array, upper_bound

PROCESSES, TRIALS = 10, 8_000


def alarms(drift: str, order: Array, seed: int) -> int:
    """How often nothing changed and p of "slower" is at most 1 %, in `TRIALS` runs of 10 v 10."""
    rng = np.random.default_rng(seed)
    logs = DRIFTS[drift](rng, TRIALS, 2 * PROCESSES) + 0.001 * rng.normal(size=(TRIALS, 2 * PROCESSES))
    candidate = np.broadcast_to(order == "B", logs.shape)
    shape = (TRIALS, PROCESSES)
    p = mann_whitney_greater(logs[candidate].reshape(shape), logs[~candidate].reshape(shape))
    return int((p <= 0.01).sum())


@pytest.mark.parametrize("drift", DRIFTS)
def test_interleaved_blocks_keep_the_error_under_every_drift(drift: str) -> None:
    seeds = np.random.default_rng(11).integers(0, 2**31, TRIALS)
    order = np.array([interleaved_order(PROCESSES, int(seed)) for seed in seeds])
    assert upper_bound(alarms(drift, order, seed=12), TRIALS) <= 0.015


@pytest.mark.parametrize("drift", DRIFTS)
def test_one_arm_after_the_other_would_cry_wolf_ten_times_too_often(drift: str) -> None:
    rising = np.array(["A"] * PROCESSES + ["B"] * PROCESSES)
    falling = rising[::-1]
    assert max(alarms(drift, rising, 13), alarms(drift, falling, 13)) > 0.1 * TRIALS
