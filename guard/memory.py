"""How much memory there is to plan with."""

import contextlib
import time
from pathlib import Path

from guard.card import our_card

_CPU_SHARE, _CPU_MOST = 0.25, 6 << 30
_GPU_SHARE, _GPU_MOST = 0.15, 16 << 30
_READINGS, _BETWEEN_S, _STILL = 60, 0.1, 4
"""The driver frees what an ended process held in steps, with rests of a few tenths of a second between them."""


def available_bytes(device: str) -> int:
    """Bytes that inputs, outputs and their copies may take on `device` now."""
    return _gpu_free() if device == "cuda" else _host_available()


def cache_bytes(device: str, available: int) -> int:
    """Bytes that the reference may keep of inputs and expected values between candidates, of those `available`."""
    most, share = (_GPU_MOST, _GPU_SHARE) if device == "cuda" else (_CPU_MOST, _CPU_SHARE)
    return int(min(most, share * available))


def _host_available() -> int:
    """MemAvailable, or what a control group leaves when that is less."""
    found = [_meminfo("MemAvailable")]
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        with contextlib.suppress(OSError, ValueError):
            found.append(int(Path(limit).read_text()) - int(Path(used).read_text()))
    return max(0, min(found))


def _meminfo(name: str) -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


def _gpu_free() -> int:
    """Free bytes once they have rested: a process that has just ended gives its memory back by and by."""
    import pynvml

    pynvml.nvmlInit()
    try:
        handle = our_card(pynvml)
        free = int(pynvml.nvmlDeviceGetMemoryInfo(handle).free)
        still = 0
        for _ in range(_READINGS):
            time.sleep(_BETWEEN_S)
            before, free = free, int(pynvml.nvmlDeviceGetMemoryInfo(handle).free)
            still = still + 1 if free <= before else 0
            if still == _STILL:
                break
        return free
    finally:
        pynvml.nvmlShutdown()
