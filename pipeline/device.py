"""Which device judges: chosen once, by what NVML sees, without importing torch."""

import os
from typing import Literal

from guard.errors import GuardBroken

Chosen = Literal["cpu", "cuda"]


def choose_device(wanted: Literal["auto", "cpu", "cuda"]) -> Chosen:
    """`auto` is the GPU when there is one. Raises `GuardBroken` for a `cuda` that is not there."""
    if wanted == "cpu":
        return "cpu"
    count, lack = gpu_count()
    if count:
        return "cuda"
    if wanted == "cuda":
        raise GuardBroken(f"--device cuda was asked for and no GPU is seen ({lack})")
    return "cpu"


def gpu_count() -> tuple[int, str]:
    """How many GPUs may be used here, and, when none, why."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "all").strip() in ("", "-1"):
        return 0, "CUDA_VISIBLE_DEVICES hides them"
    try:
        import pynvml
    except ImportError:
        return 0, "nvidia-ml-py is not installed"
    try:
        pynvml.nvmlInit()
        count = int(pynvml.nvmlDeviceGetCount())
        pynvml.nvmlShutdown()
    except pynvml.NVMLError as error:
        return 0, f"NVML says: {error}"
    return count, "" if count else "NVML lists none"
