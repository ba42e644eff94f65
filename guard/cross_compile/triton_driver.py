"""A Triton driver for a GPU that is not here: it names the target, and says what the hardware file says."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget

from tasks.gpu import Gpu


class PretendDriver:
    """What Triton asks of a driver before it launches."""

    def __init__(self, gpu: Gpu) -> None:
        major, minor = gpu.capability
        self._target = GPUTarget("cuda", 10 * major + minor, 32)
        properties = {
            "max_shared_mem": gpu.shared_kib_per_block * 1024, "max_num_regs": gpu.registers_per_sm,
            "multiprocessor_count": gpu.sms, "warpSize": 32,
            "sm_clock_rate": int(gpu.clocks_mhz.boost_sm * 1000),
        }  # fmt: skip
        self.utils = SimpleNamespace(get_device_properties=lambda _: properties)

    def get_current_target(self) -> GPUTarget:
        return self._target

    def get_current_device(self) -> int:
        """A number of its own for every target: Triton keeps compiled kernels by device."""
        return int(self._target.arch)

    def set_current_device(self, _: int) -> None:
        return None

    def get_current_stream(self, _: int | None = None) -> int:
        return 0

    def get_device_capability(self, _: int | None = None) -> tuple[int, int]:
        return divmod(int(self._target.arch), 10)

    def get_active_torch_device(self) -> torch.device:
        return torch.device("cuda", 0)

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_benchmarker(self) -> Callable[..., Any]:
        benchmarker: Callable[..., Any] = triton.testing.do_bench
        return benchmarker

    def is_active(self) -> bool:
        return True

    def get_empty_cache_for_benchmark(self) -> torch.Tensor:
        return torch.empty(0)

    def clear_cache(self, _: Any) -> None:
        return None
