"""How the GPU is doing while a process runs on it: clocks, throttling and company, read ten times a second."""

import statistics
import threading
from types import TracebackType
from typing import Any, Literal, Self

from guard.card import our_card
from guard.duel_record import Conditions
from guard.environment import THROTTLE

SPOILING = ("hw-slowdown", "sync-boost", "sw-thermal", "hw-thermal", "hw-power-brake")
"""A power cap is not among them: a kernel that draws much power is slower by its own doing."""
_PERIOD_S = 0.1
_CLOCK_FLOOR = 0.99


class ConditionsWatch:
    """Use as a context manager around what one process does; `conditions` afterwards. Reads nothing without NVML.

    `nvml` is the module or something with its functions; `root` is the process below which all of ours run, and
    `own` how many of them hold the GPU.
    """

    def __init__(self, nvml: Any | None, handle: Any, root: int, own: int = 2) -> None:
        self._nvml, self._handle, self._root, self.own = nvml, handle, root, own
        self._sm: list[float] = []
        self._memory: list[float] = []
        self._power: list[float] = []
        self._temperature = 0.0
        self._reasons: set[str] = set()
        self._others = 0
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._nvml is not None:
            self.read()
            self._thread = threading.Thread(target=self._go_on_reading, daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self.read()

    def _go_on_reading(self) -> None:
        while not self._stop.wait(_PERIOD_S):
            self.read()

    def read(self) -> None:
        nvml, handle = self._nvml, self._handle
        assert nvml is not None
        self._sm.append(float(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM)))
        self._memory.append(float(nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM)))
        self._power.append(nvml.nvmlDeviceGetPowerUsage(handle) / 1e3)
        bits = nvml.nvmlDeviceGetCurrentClocksEventReasons(handle)
        self._reasons |= {name for bit, name in THROTTLE.items() if bits & bit}
        celsius = float(nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU))
        self._temperature = max(self._temperature, celsius)
        self._others = max(self._others, company(nvml, handle, self._root, self.own))

    @property
    def conditions(self) -> Conditions:
        if not self._sm:
            return Conditions()
        return Conditions(
            sm_mhz_lowest=min(self._sm),
            sm_mhz=statistics.median(self._sm),
            memory_mhz=statistics.median(self._memory),
            temperature_c=self._temperature,
            power_w=round(statistics.fmean(self._power), 1),
            throttle_reasons=tuple(sorted(self._reasons)),
            other_processes=self._others,
            readings=len(self._sm),
        )


def company(nvml: Any, handle: Any, root: int, own: int) -> int:
    """Compute processes on the GPU that are neither `root` nor below it.

    Where NVML numbers processes as the host does and we live in a container, none is recognised: then those
    beyond the `own` that we know to hold the GPU count as others.
    """
    from guard.warden import descendants

    running = {process.pid for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle)}
    ours = {root, *descendants(root)}
    if running & ours:
        return len(running - ours)
    return max(0, len(running) - own)


def spoilt_by(conditions: Conditions, locked_sm_mhz: float | None) -> str:
    """Why times taken under these conditions do not count; empty when they do."""
    if conditions.other_processes:
        return f"{conditions.other_processes} other processes computed on the GPU"
    found = [reason for reason in SPOILING if reason in conditions.throttle_reasons]
    if found:
        return f"the GPU throttled: {', '.join(found)}"
    capped = "sw-power-cap" in conditions.throttle_reasons  # by the kernel's own power, and flagged
    if locked_sm_mhz and conditions.sm_mhz < _CLOCK_FLOOR * locked_sm_mhz and not capped:
        return f"the SM clock was {conditions.sm_mhz:.0f} MHz, locked at {locked_sm_mhz:.0f}"
    return ""


def open_nvml(device: Literal["cpu", "cuda"]) -> tuple[Any, Any]:
    """NVML and the handle of the first GPU; two times None on a CPU."""
    if device == "cpu":
        return None, None
    import pynvml

    pynvml.nvmlInit()
    return pynvml, our_card(pynvml)
