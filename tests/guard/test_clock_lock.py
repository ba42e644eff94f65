"""Clocks are locked only on request, looked at under load, and given back whatever happens. No real card is asked."""

import os
import signal
from types import SimpleNamespace
from typing import Any

import pytest

from guard.clock_lock import PRESETS, ClockLock, Clocks, clocks_of, clocks_of_policy, locked, refuse_droop
from guard.conditions import ConditionsWatch, company, spoilt_by
from guard.duel_record import Conditions
from guard.errors import GuardBroken
from tasks.errors import TaskError


class Refused(Exception):
    """As NVML says no."""


class FakeNvml:
    """One card that does as it is told, unless `refuses` names the call."""

    NVMLError = Refused
    NVML_CLOCK_SM, NVML_CLOCK_MEM, NVML_TEMPERATURE_GPU = 1, 2, 0

    def __init__(self, refuses: tuple[str, ...] = (), droop: float = 1.0) -> None:
        self.refuses, self.droop = refuses, droop
        self.sm: int | None = None
        self.memory: int | None = None
        self.loaded = False
        self.pids: list[int] = []
        self.reasons = 0
        self.asked: list[str] = []

    def _does(self, name: str) -> None:
        self.asked.append(name)
        if name in self.refuses:
            raise Refused("Insufficient Permissions")

    def nvmlDeviceSetGpuLockedClocks(self, handle: object, low: int, high: int) -> None:
        self._does("lock-sm")
        assert low == high
        self.sm = low

    def nvmlDeviceSetMemoryLockedClocks(self, handle: object, low: int, high: int) -> None:
        self._does("lock-memory")
        self.memory = low

    def nvmlDeviceResetGpuLockedClocks(self, handle: object) -> None:
        self._does("reset-sm")
        self.sm = None

    def nvmlDeviceResetMemoryLockedClocks(self, handle: object) -> None:
        self._does("reset-memory")
        self.memory = None

    def nvmlDeviceGetClockInfo(self, handle: object, kind: int) -> int:
        if kind == self.NVML_CLOCK_MEM:
            return self.memory or 1000
        return int((self.sm or 1980) * (self.droop if self.loaded else 1.0))

    def nvmlDeviceGetPowerUsage(self, handle: object) -> int:
        return 500_000

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: object) -> int:
        return self.reasons

    def nvmlDeviceGetTemperature(self, handle: object, kind: int) -> int:
        return 60

    def nvmlDeviceGetComputeRunningProcesses(self, handle: object) -> list[Any]:
        return [SimpleNamespace(pid=pid) for pid in self.pids]


CLOCKS = Clocks(1500, 3996)


def test_presets_and_plain_figures_are_understood() -> None:
    assert PRESETS == {"B200": (1500, 3996), "H100": (1410, 1593), "A100": (1065, 1215)}
    assert clocks_of("b200") == CLOCKS
    assert clocks_of("1980/3201") == (1980, 3201)


@pytest.mark.parametrize("text", ["", "V100", "1500", "1500/", "/3996", "0/3996", "fast/slow", "1500/3996/1"])
def test_anything_else_is_refused_with_its_mend(text: str) -> None:
    with pytest.raises(TaskError, match="B200"):
        clocks_of(text)


def test_without_a_request_nothing_is_locked_and_nvml_not_even_asked() -> None:
    with locked(None, "cuda") as policy:
        assert policy == "unlocked"


def test_a_cpus_clocks_are_left_alone() -> None:
    with pytest.raises(TaskError), locked(CLOCKS, "cpu"):
        raise AssertionError("never entered")


def test_both_clocks_are_locked_inside_and_given_back_after() -> None:
    nvml = FakeNvml()
    with ClockLock(nvml, None, CLOCKS) as lock:
        assert (nvml.sm, nvml.memory) == (1500, 3996)
        assert lock.policy == "locked 1500/3996"
    assert (nvml.sm, nvml.memory) == (None, None)
    assert nvml.asked.count("reset-sm") == nvml.asked.count("reset-memory") == 1


def test_an_exception_inside_gives_them_back() -> None:
    nvml = FakeNvml()
    with pytest.raises(ZeroDivisionError), ClockLock(nvml, None, CLOCKS):
        raise ZeroDivisionError
    assert (nvml.sm, nvml.memory) == (None, None)


@pytest.mark.parametrize("call", ["lock-sm", "lock-memory"])
def test_a_driver_that_refuses_breaks_the_guard_and_leaves_nothing_locked(call: str) -> None:
    nvml = FakeNvml(refuses=(call,))
    with pytest.raises(GuardBroken, match="Insufficient Permissions"), ClockLock(nvml, None, CLOCKS):
        raise AssertionError("never entered")
    assert (nvml.sm, nvml.memory) == (None, None)


def test_one_reset_that_fails_does_not_stop_the_other_and_is_said() -> None:
    nvml = FakeNvml(refuses=("reset-sm",))
    with pytest.raises(GuardBroken, match="nvidia-smi -rgc"), ClockLock(nvml, None, CLOCKS):
        pass
    assert nvml.memory is None


def test_being_told_to_end_gives_them_back_first() -> None:
    nvml, before = FakeNvml(), signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as left, ClockLock(nvml, None, CLOCKS):
        os.kill(os.getpid(), signal.SIGTERM)
        signal.pause() if nvml.sm else None
    assert left.value.code == 128 + signal.SIGTERM
    assert (nvml.sm, nvml.memory) == (None, None)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_clock_that_only_holds_at_idle_is_found_under_load() -> None:
    nvml = FakeNvml(droop=0.98)
    with ClockLock(nvml, None, CLOCKS) as lock:
        assert clocks_of_policy(lock.policy) == CLOCKS
        for loaded in (False, True):
            nvml.loaded = loaded
            with ConditionsWatch(nvml, None, os.getpid()) as watch:
                pass
            if not loaded:
                refuse_droop(watch.conditions, CLOCKS)
                continue
            with pytest.raises(GuardBroken, match="SM clock is 1470 MHz under load, not 1500"):
                refuse_droop(watch.conditions, CLOCKS)
    with pytest.raises(GuardBroken, match="memory"):
        refuse_droop(Conditions(sm_mhz=1500, memory_mhz=3000), CLOCKS)
    assert clocks_of_policy("unlocked") is None


def test_another_process_on_the_gpu_is_seen_and_spoils_the_times() -> None:
    nvml = FakeNvml()
    nvml.pids = [os.getpid()]
    assert company(nvml, None, os.getpid(), own=1) == 0
    nvml.pids = [os.getpid(), 1]
    with ConditionsWatch(nvml, None, os.getpid(), own=1) as watch:
        pass
    assert watch.conditions.other_processes == 1
    assert "other processes" in spoilt_by(watch.conditions, None)


def test_where_numbers_of_processes_are_the_hosts_only_those_beyond_ours_count() -> None:
    nvml = FakeNvml()
    nvml.pids = [999_999_991, 999_999_992]
    assert company(nvml, None, os.getpid(), own=2) == 0
    assert company(nvml, None, os.getpid(), own=1) == 1


def test_company_that_comes_and_goes_is_seen() -> None:
    nvml = FakeNvml()
    nvml.pids = [os.getpid()]
    with ConditionsWatch(nvml, None, os.getpid(), own=1) as watch:
        nvml.pids.append(1)
        watch.read()
        nvml.pids.remove(1)
    assert watch.conditions.other_processes == 1


@pytest.mark.parametrize(
    ("bit", "name", "spoils"),
    [(0x4, "sw-power-cap", False), (0x8, "hw-slowdown", True), (0x10, "sync-boost", True), (0x20, "sw-thermal", True),
     (0x40, "hw-thermal", True), (0x80, "hw-power-brake", True)],
)  # fmt: skip
def test_throttling_spoils_but_a_kernels_own_power_is_only_recorded(
    bit: int, name: str, spoils: bool
) -> None:
    nvml = FakeNvml()
    nvml.reasons = bit
    with ConditionsWatch(nvml, None, os.getpid()) as watch:
        pass
    assert watch.conditions.throttle_reasons == (name,)
    assert bool(spoilt_by(watch.conditions, None)) is spoils


def test_a_locked_clock_must_be_held_to_99_percent() -> None:
    assert spoilt_by(Conditions(sm_mhz=1486), 1500) == ""
    assert "1484 MHz" in spoilt_by(Conditions(sm_mhz=1484), 1500)
    assert spoilt_by(Conditions(sm_mhz=1200), None) == ""
    assert spoilt_by(Conditions(sm_mhz=1200, throttle_reasons=("sw-power-cap",)), 1500) == ""


def test_without_nvml_there_is_nothing_to_say() -> None:
    with ConditionsWatch(None, None, os.getpid()) as watch:
        pass
    assert watch.conditions == Conditions()
