"""The official timing loop in the worker: for each call shifted copies of the inputs, clean outputs, a cold cache."""

from collections.abc import Callable
from typing import Any

import torch

from guard.buffers.vmm import DeviceBytes
from guard.layout import ALIGNMENT
from guard.timers import TIMERS
from guard.timers.base import Records
from guard.verdict import TimerName

_L2_PERSISTING_RESET = "cudaCtxResetPersistingL2Cache"


class TimedLoop:
    """Copies, flushes and calls; only the call itself is inside a timer's window."""

    def __init__(
        self,
        run: Callable[..., Any] | None,
        dps: bool,
        arguments: list[Any],
        slots: list[list[torch.Tensor]],
        copy_out: Callable[[Any, list[torch.Tensor]], None],
        shifted: bool,
    ) -> None:
        if run is None:
            raise RuntimeError("nothing is loaded")
        self._run, self._dps, self._slots, self._copy_out = run, dps, slots, copy_out
        self._given = arguments
        self._pools = [_Pool(a) if shifted and isinstance(a, torch.Tensor) else None for a in arguments]
        self._device = slots[0][0].device
        self._flush = _Flush(self._device)
        self._now: list[Any] = []
        self._result: Any = None

    def record(self, timer: TimerName, warmup: int, timed: int) -> Records:
        records = TIMERS[timer].record(self._prepare, self._call, warmup, timed)
        self._keep()
        return records

    def _prepare(self, index: int) -> None:
        self._keep()
        self._index = index
        self._now = [
            pool.at(index) if pool is not None else given
            for pool, given in zip(self._pools, self._given, strict=True)
        ]
        if self._dps:
            for output in self._slot(index):
                output.view(
                    torch.uint8
                ).zero_() if output.is_contiguous() and output.dim() else output.zero_()
        self._flush()

    def _call(self, index: int) -> None:
        if self._dps:
            self._run(*self._now, *self._slot(index))
        else:
            self._result = self._run(*self._now)

    def _keep(self) -> None:
        """What the call before returned goes to its slot, outside every window."""
        if self._result is not None:
            result, self._result = self._result, None
            self._copy_out(result, self._slot(self._index))

    def _slot(self, index: int) -> list[torch.Tensor]:
        return self._slots[index % len(self._slots)]


class _Pool:
    """Room for one tensor at addresses that differ by multiples of 256 bytes, 2,048 at most."""

    _STEPS = 8

    def __init__(self, source: torch.Tensor) -> None:
        self._shape, self._strides = source.shape, source.stride()
        span = (
            0
            if source.numel() == 0
            else 1 + sum((n - 1) * s for n, s in zip(self._shape, self._strides, strict=True))
        )
        self._source = source.as_strided((span,), (1,))
        self._step = ALIGNMENT // source.element_size()
        self._room = torch.empty(span + self._STEPS * self._step, dtype=source.dtype, device=source.device)

    def at(self, index: int) -> torch.Tensor:
        offset = (1 + (index * 5) % self._STEPS) * self._step
        flat = self._room.narrow(0, offset, self._source.numel())
        flat.copy_(self._source)
        if flat.device.type != "cuda" or flat.numel() == 0:
            return flat.as_strided(self._shape, self._strides, flat.storage_offset())
        return _rebased(flat).as_strided(self._shape, self._strides)


class _Flush:
    """Twice the last-level cache is overwritten before each call, and persisting lines are given up."""

    def __init__(self, device: torch.device) -> None:
        self._cache: torch.Tensor | None = None
        self._reset: Callable[[], Any] = lambda: None
        if device.type == "cuda":
            size = 2 * torch.cuda.get_device_properties(device).L2_cache_size
            self._cache = torch.empty(size, dtype=torch.int8, device=device)
            self._reset = _persisting_reset()

    def __call__(self) -> None:
        if self._cache is not None:
            self._reset()
            self._cache.zero_()


def _rebased(flat: torch.Tensor) -> torch.Tensor:
    """The same memory as a tensor whose storage starts at its own address."""
    raw = torch.as_tensor(
        DeviceBytes(flat.data_ptr(), flat.numel() * flat.element_size()), device=flat.device
    )
    return raw.view(flat.dtype)


def _persisting_reset() -> Callable[[], Any]:
    from cuda.bindings import runtime

    reset: Callable[[], Any] = getattr(runtime, _L2_PERSISTING_RESET)
    return reset
