"""The guard measured by itself."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import guard.selftest_trials
from guard.cross_compile import cross_compile
from guard.duel_record import Conditions
from guard.judge import judge
from guard.protocol import SMOKE
from guard.selftest import selftest
from guard.selftest_figures import alarms_from, noise_of, timer_check
from guard.selftest_line import _Line, both_arms
from guard.selftest_result import InjectedChange, Row, SelfComparison, Selftest, TimerCheck
from guard.selftest_store import Store
from guard.selftest_task import DOSES, KINDS, doses_candidate, doses_task, kinds_candidate, kinds_task
from guard.selftest_trials import Trials, company_trials, power_trials
from guard.session import Session
from guard.verdict import Environment, Measurement
from tasks.errors import TaskError
from tests.guard.alive import alive_below

CPU = DOSES["cpu"]


def spins(
    slope: float = 1.0, beside_ms: float = 0.3, per_unit_ms: float = 1e-6, doses=CPU
) -> list[Measurement]:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    return [
        Measurement(
            workload=f"spin-{dose}", process=0, timer="wall", kind="measured",
            times_ms=tuple(beside_ms + slope * dose * per_unit_ms + 0.001 * rng.random(40)),
        )
        for dose in doses
    ]  # fmt: skip


@pytest.mark.parametrize("slope", [0.9, 1.0, 1.03])
def test_a_timer_that_runs_fast_or_slow_shows_in_the_slope(slope: float) -> None:
    found = timer_check(spins(slope), CPU, 0)
    assert found.slope == pytest.approx(slope, abs=0.001)
    assert found.intercept_ms == pytest.approx(0.3, abs=0.002)
    assert found.floor_ms == pytest.approx(0.3, abs=0.002)
    assert found.residual < 0.002


def test_cycles_become_time_by_the_clock_that_was_read_meanwhile() -> None:
    at_2_ghz = spins(per_unit_ms=1 / 2e6, doses=DOSES["cuda"])
    assert timer_check(at_2_ghz, DOSES["cuda"], 2000).slope == pytest.approx(1, abs=0.001)
    assert timer_check(at_2_ghz, DOSES["cuda"], 1000).slope == pytest.approx(0.5, abs=0.001)


def test_company_that_stretches_most_spins_does_not_bend_the_line() -> None:
    crowded = [
        m.model_copy(
            update={"times_ms": tuple(t * (1 if i % 5 == 0 else 2) for i, t in enumerate(m.times_ms))}
        )
        for m in spins()
    ]
    assert timer_check(crowded, CPU, 0).slope == pytest.approx(1, abs=0.005)


def test_a_tick_of_the_timer_is_found() -> None:
    ticked = [
        m.model_copy(update={"times_ms": tuple(round(t * 1e6 / 32) * 32 / 1e6 for t in m.times_ms)})
        for m in spins()
    ]
    assert timer_check(ticked, CPU, 0).tick_ns == 32
    assert timer_check(spins(), CPU, 0).tick_ns is None


def test_the_noise_table_tells_iterations_from_processes() -> None:
    rng = np.random.default_rng(1)
    centres = np.exp(0.02 * rng.normal(size=40))
    times = [tuple(centre * np.exp(0.002 * rng.normal(size=200))) for centre in centres]
    (noise,) = noise_of(
        [
            Measurement(workload="k", process=p, timer="wall", kind="measured", times_ms=t)
            for p, t in enumerate(times)
        ]
    )
    assert noise.within == pytest.approx(0.002, rel=0.15)
    assert noise.between == pytest.approx(0.02, rel=0.4)
    assert noise.median_ms == pytest.approx(1, abs=0.02)


ENVIRONMENT = Environment(device="cpu", kind="cpu")
TIMER = TimerCheck(timer="wall", floor_ms=0.1, slope=1.0, intercept_ms=0.1, residual=0.001, tick_ns=None)
QUIET, ALARM = SelfComparison(alarms=(), outcomes={}), SelfComparison(alarms=("gemm",), outcomes={})


def made(**other: object) -> Selftest:
    return Selftest.model_validate({"environment": ENVIRONMENT, "seconds": 1.0, "timer": TIMER, **other})


def test_one_alarm_of_twenty_is_chance_and_two_are_not() -> None:
    assert made(comparisons=(ALARM, *[QUIET] * 19)).is_good
    assert not made(comparisons=(ALARM, ALARM, *[QUIET] * 18)).is_good


def test_a_timer_that_does_not_follow_or_was_not_tried_is_not_good() -> None:
    assert not made(timer=None).is_good
    assert not made(timer=TIMER.model_copy(update={"slope": 1.2})).is_good
    on_gpu = ENVIRONMENT.model_copy(update={"kind": "cuda"})
    assert not made(environment=on_gpu, timer=TIMER.model_copy(update={"slope": 1.03})).is_good
    assert made(environment=on_gpu, timer=TIMER.model_copy(update={"slope": 1.01})).is_good


def test_a_large_change_called_equivalent_is_not_good() -> None:
    green = InjectedChange(change=0.05, found=(), missed=("a",), wrongly_equivalent=("a",))
    assert not made(injected=(green,)).is_good


@pytest.mark.parametrize(("change", "quiet", "good"), [(0.02, 5, True), (0.02, 4, False), (0.01, 0, True)])
def test_on_a_gpu_two_percent_must_be_found_on_five_quiet_kernels(
    change: float, quiet: int, good: bool
) -> None:
    names = tuple("abcdefg")
    spreads = {name: 0.001 if n < quiet else 0.02 for n, name in enumerate(names)}
    seen = InjectedChange(change=change, found=names, missed=(), wrongly_equivalent=(), spreads=spreads)
    assert made(environment=ENVIRONMENT.model_copy(update={"kind": "cuda"}), injected=(seen,)).is_good == good


def row(part: str, **found: object) -> Row:
    return Row.model_validate({"part": part, "environment": ENVIRONMENT, "seconds": 2.0, **found})


def test_what_was_kept_is_not_run_again_and_what_is_in_hand_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "found.json"
    one, other = Store(file), Store(file)
    with one.claim("timer") as first, other.claim("timer") as second, other.claim("comparison 1") as third:
        assert (first, second, third) == (True, False, True)
        one.keep(row("timer", timer=TIMER))
    with other.claim("timer") as again:
        assert not again
    other.keep(row("comparison 1", comparison=ALARM))
    assert [r.part for r in one.rows()] == ["timer", "comparison 1"]
    assert one.rows()[0].timer == TIMER and not list(tmp_path.glob(".*"))
    found = Selftest.of(one.rows(), ENVIRONMENT, ())
    assert (found.seconds, found.alarms, found.timer) == (4.0, 1, TIMER)


def test_a_file_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    for number, text in enumerate(("", "{}", "[1]", '{"rows": [{"part": 3}]}')):
        file = tmp_path / f"{number}.json"
        file.write_text(text)
        with pytest.raises(TaskError, match="holds no self-test"):
            Store(file)


def test_alarms_follow_from_the_locations_that_are_kept() -> None:
    rng = np.random.default_rng(3)

    def arm(shift: float) -> tuple[float, ...]:
        return tuple(shift * np.exp(0.002 * rng.normal(size=10)))

    assert alarms_from({"same": (arm(1.0), arm(1.0)), "slower": (arm(1.0), arm(1.05))}) == ("slower",)


def test_processes_that_start_ahead_measure_both_arms_and_leave_nothing(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a GPU: the next process waits READY while this one ends its calls."""
    monkeypatch.setattr(
        _Line, "__enter__", lambda self, enter=_Line.__enter__: (setattr(self, "ahead", True), enter(self))[1]
    )
    task, candidate = doses_task("cpu"), doses_candidate("cpu")
    task = task.model_copy(update={"workloads": task.workloads[:1]})
    candidate = candidate.model_copy(update={"definition_digest": task.definition.digest})
    shard = both_arms(task, candidate, candidate, session, lambda: 60.0, processes=2)
    assert shard is not None
    assert [p.arm for p in shard.processes] == list(shard.header.order)
    assert len({p.pad_bytes for p in shard.processes}) == 4
    for number in (0, 1):
        assert len({p.values_seed for p in shard.processes if p.process == number}) == 1
    assert len(alive_below(session)) == 1, "the reference alone"
    assert both_arms(task, candidate, candidate, session, lambda: 0.0) is None


def test_company_that_is_not_noticed_every_time_is_not_good() -> None:
    noticed = Trials(name="company on the GPU", tried=10, noticed=10)
    assert made(trials=(noticed,)).is_good
    assert not made(trials=(noticed.model_copy(update={"noticed": 9}),)).is_good


def test_company_is_looked_for_before_and_while_it_is_there(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    company = iter([0, 1, 0, 0, 1, 1])
    monkeypatch.setattr(
        guard.selftest_trials,
        "_conditions",
        lambda session, work, own: Conditions(other_processes=next(company)),
    )
    found = company_trials(session, count=3)
    assert (found.tried, found.noticed, found.false_alarms) == (3, 2, 1)


def test_without_seconds_nothing_runs_and_all_of_it_is_said(session: Session) -> None:
    found = selftest(session, max_seconds=0)
    assert found.comparisons == () and found.timer is None and not found.is_good
    assert any("not run" in line and "20 of 20" in line for line in found.lines())


def test_the_guards_own_kernels_are_accepted_by_the_guard(session: Session) -> None:
    for task, candidate in (
        (kinds_task("cpu"), kinds_candidate("cpu")),
        (doses_task("cpu"), doses_candidate("cpu", 1.05, {1_000_000: 10})),
    ):
        verdict = judge(task, candidate, SMOKE.model_copy(update={"official_rounds": 1}), session)
        assert verdict.status == "accepted", verdict.reason


class _OnlyTheTimer(Store):
    @contextmanager
    def claim(self, part: str) -> Iterator[bool]:
        yield part == "timer"


def test_the_timer_is_measured_here(session: Session) -> None:
    """Loose: the spins are real, and the machine may be busy."""
    found = selftest(session, max_seconds=10, comparisons=1, store=_OnlyTheTimer())
    assert found.timer is not None and found.timer.timer == "wall"
    assert 0.7 < found.timer.slope < 1.5
    assert 0 < found.timer.floor_ms < CPU[1] / 1e6 + found.timer.intercept_ms + 5


def test_there_are_enough_kernels_from_a_microsecond_to_ten_milliseconds() -> None:
    kinds = KINDS["cuda"]
    assert len(kinds) >= 12
    assert kinds["chain-of-three"][2] == 3, "a chain of tiny kernels"
    largest = max(amount for _, kind, amount in kinds.values() if kind == 1)
    assert 8 < 2 * largest**3 / 700e12 * 1e3 < 10, "ten milliseconds at an H200's full power"
    assert len([dose for dose in DOSES["cuda"] if dose]) >= 5


@pytest.mark.slow
def test_the_spin_compiles_for_the_gpu_it_is_meant_for(tmp_path: Path) -> None:
    report = cross_compile(doses_candidate("cuda", 1.02, {2000: 5}), doses_task("cuda"), "sm_90a", tmp_path)
    assert report.ok and report.kernels, report.error


@pytest.mark.gpu
def test_on_a_gpu_the_timer_follows_spins_within_two_percent() -> None:
    with Session("cuda") as session:
        found = selftest(session, max_seconds=120, comparisons=1, store=_OnlyTheTimer())
    assert found.timer is not None and abs(found.timer.slope - 1) <= 0.02, found.timer


def test_a_cap_that_lingers_after_its_load_is_no_false_alarm_and_one_that_stays_is(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    capped, free = Conditions(throttle_reasons=("sw-power-cap",)), Conditions()
    lingering = iter([free, capped, capped, capped, free, capped])
    monkeypatch.setattr(guard.selftest_trials, "_conditions", lambda session, work, own: next(lingering))
    found = power_trials(session, count=2)
    assert (found.noticed, found.false_alarms) == (2, 0)
    monkeypatch.setattr(guard.selftest_trials, "_conditions", lambda session, work, own: capped)
    assert power_trials(session, count=2).false_alarms == 2
