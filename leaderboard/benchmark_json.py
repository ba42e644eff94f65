"""Process medians as pytest-benchmark writes its results, so that `pytest-benchmark compare` can read them."""

import platform
import statistics
from collections.abc import Mapping
from typing import Any

import numpy as np

from guard.verdict import Environment
from leaderboard.snapshot import WorkloadTimes

VERSION = "5.1.0"
"""Of the file's form."""
_S_PER_MS = 1e-3


def benchmark_json(
    kernels: Mapping[str, tuple[WorkloadTimes, ...]], environment: Environment, taken_at: str
) -> dict[str, Any]:
    """One benchmark a kernel and workload, in seconds, one round a process; the machine with its driver."""
    return {
        "machine_info": machine(environment),
        "commit_info": {},
        "datetime": taken_at,
        "version": VERSION,
        "benchmarks": [
            _benchmark(kernel, times) for kernel, workloads in kernels.items() for times in workloads
        ],
    }


def machine(environment: Environment) -> dict[str, Any]:
    """What decides whether two files may be compared stands beside what pytest-benchmark shows itself."""
    return {
        "node": environment.uuid or platform.node(),
        "machine": platform.machine(),
        "processor": environment.device,
        "system": platform.system(),
        "release": platform.release(),
        "python_version": environment.libraries.get("python", platform.python_version()),
        "python_implementation": platform.python_implementation(),
        "cpu": {"brand_raw": environment.device},
        "driver": environment.driver,
        "firmware": _firmware(environment),
        "clocks": environment.clocks,
        "libraries": environment.libraries,
        "throttle_reasons": list(environment.throttle_reasons),
    }


def _firmware(environment: Environment) -> str | None:
    """The card's VBIOS version, where NVML tells it; None on a CPU."""
    if environment.kind == "cpu" or environment.uuid is None:
        return None
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        try:
            handle = pynvml.nvmlDeviceGetHandleByUUID(environment.uuid)
            return str(pynvml.nvmlDeviceGetVbiosVersion(handle))
        finally:
            pynvml.nvmlShutdown()
    except pynvml.NVMLError:
        return None


def _benchmark(kernel: str, times: WorkloadTimes) -> dict[str, Any]:
    name = f"{kernel}[{times.uuid}]"
    return {
        "group": kernel,
        "name": name,
        "fullname": name,
        "params": {"workload": times.uuid},
        "param": times.uuid,
        "extra_info": {"timer": times.timer, "kind": times.kind, "round": "the median of one fresh process"},
        "options": {"disable_gc": False, "timer": times.timer, "min_rounds": len(times.medians_ms)},
        "stats": _stats([m * _S_PER_MS for m in times.medians_ms]),
    }


def _stats(seconds: list[float]) -> dict[str, Any]:
    q1, median, q3 = (float(q) for q in np.quantile(seconds, [0.25, 0.5, 0.75]))
    mean = statistics.fmean(seconds)
    spread = statistics.stdev(seconds) if len(seconds) > 1 else 0.0
    inside = [s for s in seconds if q1 - 1.5 * (q3 - q1) <= s <= q3 + 1.5 * (q3 - q1)]
    by_spread = sum(abs(s - mean) > spread for s in seconds)
    by_quartiles = len(seconds) - len(inside)
    return {
        "min": min(seconds),
        "max": max(seconds),
        "mean": mean,
        "stddev": spread,
        "rounds": len(seconds),
        "iterations": 1,
        "median": median,
        "iqr": q3 - q1,
        "q1": q1,
        "q3": q3,
        "iqr_outliers": by_quartiles,
        "stddev_outliers": by_spread,
        "outliers": f"{by_spread};{by_quartiles}",
        "ld15iqr": min(inside),
        "hd15iqr": max(inside),
        "ops": 1 / mean,
        "total": sum(seconds),
        "data": seconds,
    }
