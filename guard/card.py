"""Which card is ours: the first that CUDA is shown, asked of a library that numbers all of them."""

import os
from typing import Any


def our_card(nvml: Any) -> Any:
    """NVML's handle of the card that CUDA calls 0: the first of `CUDA_VISIBLE_DEVICES`, by number or uuid."""
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip()
    if first.startswith("GPU-"):
        return nvml.nvmlDeviceGetHandleByUUID(first)
    return nvml.nvmlDeviceGetHandleByIndex(int(first) if first.isdigit() else 0)
