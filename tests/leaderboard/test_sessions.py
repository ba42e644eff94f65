"""The driver series, and what may be said from how many sessions."""

from pathlib import Path

import numpy as np
import pytest

from leaderboard.sessions import Session, examine, read_sessions, write_session
from tasks.errors import TaskError
from tests.leaderboard.snapshots import H200

WORKLOADS = ("w1", "w2", "w3")


def series(old: int, new: int, *, step: float = 1.0, seed: int = 0, spread: float = 0.003) -> list[Session]:
    draw = np.random.default_rng(seed)
    found = []
    for number in range(old + new):
        driver, factor = ("580", 1.0) if number < old else ("590", step)
        times = {w: factor * (1 + i) * float(np.exp(draw.normal(0, spread))) for i, w in enumerate(WORKLOADS)}
        found.append(
            Session(
                snapshot="5" * 64,
                taken_at=f"2026-01-{number + 1:02d}T00:00:00+00:00",
                environment=H200.model_copy(update={"driver": driver}),
                medians_ms=times,
            )
        )
    return found


def test_a_driver_two_percent_slower_is_found_from_three_sessions_against_eight() -> None:
    found = examine(series(8, 3, step=1.02))
    assert found.slower is True and found.ratio == pytest.approx(1.02, abs=0.004)
    assert "3 sessions against 8 before: SLOWER" in found.lines()[0]


def test_an_unchanged_driver_alarms_in_no_more_than_one_series_of_a_hundred() -> None:
    """300 series of 8 old and 3 new sessions with nothing changed, at the spread of sessions seen."""
    alarms = sum(bool(examine(series(8, 3, seed=seed)).slower) for seed in range(300))
    assert alarms <= 3
    found = sum(bool(examine(series(8, 3, seed=seed, step=1.02)).slower) for seed in range(100))
    assert found >= 88


def test_too_few_sessions_say_nothing_and_how_many_are_wanted() -> None:
    for counts in ((8, 2), (7, 3), (0, 5)):
        found = examine(series(*counts, step=1.002))
        assert found.slower is None and not found.suspicious
        assert "3 and 8 are needed" in found.lines()[0]


def test_one_session_far_above_the_old_ones_is_suspicious_and_no_verdict() -> None:
    found = examine(series(10, 1, step=1.05))
    assert (found.slower, found.suspicious) == (None, True)


def test_a_step_is_dated_once_there_are_sessions_enough() -> None:
    assert examine(series(12, 11, step=1.03)).steps is None
    (step,) = examine(series(14, 12, step=1.03)).steps or ()
    assert step.session == "2026-01-15T00:00:00+00:00" and step.ratio == pytest.approx(1.03, abs=0.01)


def test_sessions_with_other_workloads_do_not_count() -> None:
    sessions = series(8, 3, step=1.05)
    partial = sessions[0].model_copy(update={"medians_ms": {"w1": 1.0}})
    assert examine([partial, *sessions[1:]]).old_sessions == 7


def test_sessions_of_one_card_and_snapshot_are_read_in_the_order_taken(tmp_path: Path) -> None:
    sessions = series(2, 1)
    other = sessions[0].model_copy(update={"environment": H200.model_copy(update={"uuid": "GPU-2"})})
    for session in (*reversed(sessions), other):
        write_session(session, tmp_path)
    assert list(read_sessions(tmp_path, "5" * 64, "GPU-1")) == sessions
    assert read_sessions(tmp_path, "5" * 64, "GPU-2") == (other,)
    next(tmp_path.rglob("*.json")).write_text("{}")
    with pytest.raises(TaskError, match="is no session"):
        read_sessions(tmp_path, "5" * 64, "GPU-1")
