"""Where a judgement happened: device, driver, clocks and company, before, during and after."""

import contextlib
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from guard.card import our_card
from guard.verdict import Environment

_LIBRARIES = ("torch", "triton", "numpy", "cupti-python", "flashinfer-python")
THROTTLE = {
    0x4: "sw-power-cap", 0x8: "hw-slowdown", 0x10: "sync-boost", 0x20: "sw-thermal", 0x40: "hw-thermal",
    0x80: "hw-power-brake",
}  # fmt: skip


class Watch:
    """Use as a context manager around a judgement; `look` in between takes another reading."""

    def __init__(self, device: Literal["cpu", "cuda"]) -> None:
        self._device = device
        self._nvml: Any = None
        self._clocks: list[tuple[float, float]] = []
        self._reasons: set[str] = set()
        self._temperature: float | None = None
        self._others = 0

    def __enter__(self) -> Self:
        if self._device == "cuda":
            import pynvml

            pynvml.nvmlInit()
            self._nvml, self._handle = pynvml, our_card(pynvml)
        self.look()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(Exception):
            self.look()
        if self._nvml is not None:
            self._facts = self._gpu_facts()
            self._nvml.nvmlShutdown()
            self._nvml = None

    def look(self) -> None:
        nvml = self._nvml
        if nvml is None:
            return
        sm = nvml.nvmlDeviceGetClockInfo(self._handle, nvml.NVML_CLOCK_SM)
        memory = nvml.nvmlDeviceGetClockInfo(self._handle, nvml.NVML_CLOCK_MEM)
        self._clocks.append((float(sm), float(memory)))
        bits = nvml.nvmlDeviceGetCurrentClocksEventReasons(self._handle)
        self._reasons |= {name for bit, name in THROTTLE.items() if bits & bit}
        self._temperature = float(nvml.nvmlDeviceGetTemperature(self._handle, nvml.NVML_TEMPERATURE_GPU))
        mine = _family(os.getpid())
        running = {p.pid for p in nvml.nvmlDeviceGetComputeRunningProcesses(self._handle)}
        self._others = max(self._others, len(running - mine))

    def environment(self, isolation: str, libraries: dict[str, str]) -> Environment:
        known = {**_versions(), **libraries, "python": platform.python_version()}
        if self._device == "cpu":
            return Environment(device=cpu_name(), kind="cpu", libraries=known, isolation=isolation)
        names = ("before", "during", "after") if len(self._clocks) > 2 else ("before", "after")
        readings = [self._clocks[0], self._clocks[len(self._clocks) // 2], self._clocks[-1]]
        readings = readings if len(names) == 3 else [readings[0], readings[2]]
        clocks = {f"sm_{n}_mhz": r[0] for n, r in zip(names, readings, strict=True)}
        clocks |= {f"memory_{n}_mhz": r[1] for n, r in zip(names, readings, strict=True)}
        return Environment(
            kind="cuda", libraries=known, clocks=clocks, throttle_reasons=tuple(sorted(self._reasons)),
            temperature_c=self._temperature, other_processes=self._others, isolation=isolation, **self._facts,
        )  # fmt: skip

    def _gpu_facts(self) -> dict[str, str]:
        nvml = self._nvml
        return {
            "device": str(nvml.nvmlDeviceGetName(self._handle)),
            "uuid": str(nvml.nvmlDeviceGetUUID(self._handle)),
            "driver": str(nvml.nvmlSystemGetDriverVersion()),
        }


def gpu_architecture() -> str:
    """Compute capability such as `9.0`, without the `a` that the official `LOCAL` target lacks."""
    import pynvml

    pynvml.nvmlInit()
    try:
        major, minor = pynvml.nvmlDeviceGetCudaComputeCapability(our_card(pynvml))
    finally:
        pynvml.nvmlShutdown()
    return f"{major}.{minor}"


def cpu_name() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _versions() -> dict[str, str]:
    found = {}
    for name in _LIBRARIES:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _family(root: int) -> set[int]:
    from guard.warden import descendants

    return {root, *descendants(root)}
