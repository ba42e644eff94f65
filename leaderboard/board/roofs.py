"""The roofs of the GPUs that a page's points lie under."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from tasks.gpu import known_gpus, load_gpu

_SHOWN = ("fp32", "bf16", "fp8")


def roofs_of(devices: Iterable[str]) -> dict[str, dict[str, Any]]:
    """By a known GPU's name that one of `devices` holds as a word (`NVIDIA H200`, `B200`): its bandwidth,
    bytes/s, and its peaks by format, operations/s."""
    words = {word for device in devices for word in device.split()}
    found = {}
    for name in known_gpus():
        if name not in words:
            continue
        found[name] = _roofs(name)
    return found


@cache
def _roofs(name: str) -> dict[str, Any]:
    gpu = load_gpu(name)
    peaks = {kind: peak * 1e12 for kind, peak in gpu.peaks_tflops.items() if kind in _SHOWN}
    return {"bandwidth": gpu.bandwidth_tb_per_s * 1e12, "peaks": peaks}
