"""The GPU's clocks, locked only when somebody asks for it, looked at under load, and given back whatever happens."""

import atexit
import signal
import statistics
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Literal, NamedTuple

from guard.errors import GuardBroken
from tasks.errors import TaskError

_FLOOR = 0.99


class Clocks(NamedTuple):
    """MHz of the multiprocessors and of the memory."""

    sm: int
    memory: int

    def __str__(self) -> str:
        return f"{self.sm}/{self.memory}"


PRESETS = {"B200": Clocks(1500, 3996), "H100": Clocks(1410, 1593), "A100": Clocks(1065, 1215)}
"""Those of the board where there are any, else what the card holds under its own power limit."""


def clocks_of(text: str) -> Clocks:
    """A preset's name, or `SM/MEMORY` in MHz; `TaskError` for anything else."""
    if text.upper() in PRESETS:
        return PRESETS[text.upper()]
    sm, slash, memory = text.partition("/")
    if not (slash and sm.isdigit() and memory.isdigit() and int(sm) and int(memory)):
        mend = f"one of {', '.join(PRESETS)}, or SM/MEMORY in MHz such as 1500/3996"
        raise TaskError(f"no clocks: {text!r}", field="--lock-clocks", mend=mend)
    return Clocks(int(sm), int(memory))


@contextmanager
def locked(clocks: Clocks | None, device: Literal["cpu", "cuda"]) -> Iterator[str]:
    """Lock the first GPU's clocks while inside; gives the policy's name for the record. None locks nothing."""
    if clocks is None:
        yield "unlocked"
        return
    if device != "cuda":
        raise TaskError("a CPU's clocks are not ours to lock", field="--lock-clocks", mend="leave it out")
    import pynvml

    pynvml.nvmlInit()
    with ClockLock(pynvml, pynvml.nvmlDeviceGetHandleByIndex(0), clocks) as lock:
        yield lock.policy


class ClockLock:
    """Use as a context manager. Restores when left, when the interpreter ends, and when it is told to end (SIGTERM).

    `nvml` is the module or something with its functions. `GuardBroken` when the driver refuses, or when
    under load the clocks are not what was asked for.
    """

    def __init__(self, nvml: Any, handle: Any, clocks: Clocks) -> None:
        self._nvml, self._handle, self.clocks = nvml, handle, clocks
        self._held = False
        self._before: Any = None

    @property
    def policy(self) -> str:
        return f"locked {self.clocks}"

    def __enter__(self) -> "ClockLock":
        self._held = True  # from here on there may be something to restore, even if the second call fails
        atexit.register(self.restore)
        self._on_termination()
        try:
            self._nvml.nvmlDeviceSetGpuLockedClocks(self._handle, self.clocks.sm, self.clocks.sm)
            self._nvml.nvmlDeviceSetMemoryLockedClocks(self._handle, self.clocks.memory, self.clocks.memory)
        except self._nvml.NVMLError as error:
            self.restore()
            raise GuardBroken(f"the driver does not lock clocks here: {error}; measure without") from error
        except BaseException:
            self.restore()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.restore()

    def verify(self, load: Callable[[], object], readings: int = 10) -> float:
        """The median SM clock while `load` runs, in MHz; `GuardBroken` below 99 % of what was asked for.

        What a card shows at idle says nothing: power and heat pull clocks down only under load.
        """
        seen = [self._read(load) for _ in range(readings)]
        sm, memory = (float(statistics.median(column)) for column in zip(*seen, strict=True))
        for name, wanted, got in (("SM", self.clocks.sm, sm), ("memory", self.clocks.memory, memory)):
            if got < _FLOOR * wanted or got > wanted / _FLOOR:
                raise GuardBroken(f"the {name} clock is {got:.0f} MHz under load, not {wanted} as locked")
        return sm

    def _read(self, load: Callable[[], object]) -> tuple[float, float]:
        load()
        nvml = self._nvml
        return (
            float(nvml.nvmlDeviceGetClockInfo(self._handle, nvml.NVML_CLOCK_SM)),
            float(nvml.nvmlDeviceGetClockInfo(self._handle, nvml.NVML_CLOCK_MEM)),
        )

    def restore(self) -> None:
        """Both clocks are the driver's again; a second time does nothing, and one failure does not stop the other."""
        if not self._held:
            return
        self._held = False
        atexit.unregister(self.restore)
        if self._before is not None:
            signal.signal(signal.SIGTERM, self._before)
        failed = []
        for reset in (
            self._nvml.nvmlDeviceResetGpuLockedClocks,
            self._nvml.nvmlDeviceResetMemoryLockedClocks,
        ):
            try:
                reset(self._handle)
            except self._nvml.NVMLError as error:
                failed.append(str(error))
        if failed:
            raise GuardBroken(
                f"the clocks could not be given back ({'; '.join(failed)}): nvidia-smi -rgc -rmc does"
            )

    def _on_termination(self) -> None:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGTERM, self._terminated)

    def _terminated(self, number: int, frame: FrameType | None) -> None:
        self.restore()
        raise SystemExit(128 + number)
