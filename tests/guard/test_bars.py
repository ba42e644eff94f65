"""What the commands that measure bars on a card make of their rows."""

from typing import Any

import pytest

from guard.session import Session
from guard.verdict import Measurement
from scripts.guard_cost import measure, medians
from scripts.oracle_times import single_kernel, summary
from tests.guard.cases import matmul_task


def reading(ratio: float, spread: float = 0.001, single: bool = True, processes: int = 10) -> dict[str, Any]:
    return {
        "ratio": ratio, "spreads": [0.001, spread], "single_kernel": single, "guard_ms": [1.0] * processes
    }  # fmt: skip


@pytest.mark.parametrize(("apart", "met"), [(0, True), (1, True), (2, False)])
def test_of_twenty_quiet_kernels_one_may_read_otherwise(apart: int, met: bool) -> None:
    rows = [reading(1.005)] * (20 - apart) + [reading(0.98)] * apart
    found = summary(rows)
    assert (found["quiet"], found["quiet_within"], found["met"]) == (20, 20 - apart, met)


def test_noisy_kernels_chains_and_cut_off_ones_are_not_counted() -> None:
    rows = [reading(1.2, spread=0.02), reading(1.2, single=False), reading(1.2, processes=4), reading(1.0)]
    found = summary(rows)
    assert (found["single_kernels"], found["single_within"], found["quiet"]) == (2, 1, 1)
    assert found["met"] and not summary(rows[:3])["met"], "nothing that was compared is no agreement"


def test_one_kernel_keeps_the_device_busy_for_the_whole_of_its_span() -> None:
    def verdict(busy: tuple[float, ...] | None) -> Any:
        found = Measurement(
            workload="w", process=0, timer="cupti", kind="official", times_ms=(1.0, 2.0), busy_ms=busy
        )
        return type("Some", (), {"measurements": (found,)})()

    assert single_kernel(verdict((1.0, 2.0)), "w")
    assert not single_kernel(verdict((1.0, 1.9)), "w")
    assert not single_kernel(verdict(None), "w")
    assert not single_kernel(verdict((1.0, 2.0)), "other")


def test_medians_are_taken_over_the_tasks_of_each_protocol() -> None:
    rows = [{"protocol": "screen", "seconds": s} for s in (9.0, 30.0, 11.0)]
    assert medians(rows) == {"screen_median_s": 11.0}
    assert medians([*rows, {"protocol": "final", "seconds": 50.0}])["final_median_s"] == 50.0


def test_a_screen_is_timed_from_the_first_process_to_what_is_said(session: Session) -> None:
    row = measure(matmul_task((24,)), "screen", session, left_s=60.0)
    assert row is not None and not row["rejected"]
    assert len(row["process_s"]) == 4 and row["seconds"] >= sum(row["process_s"]) - 0.1
    assert measure(matmul_task((24,)), "final", session, left_s=0.0) is None
