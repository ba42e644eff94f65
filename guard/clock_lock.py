"""The GPU's clocks, locked only when somebody asks for it, looked at under load, and given back whatever happens."""

import atexit
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Literal, NamedTuple

from guard.card import our_card
from guard.duel_record import Conditions
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
    if not (slash and sm.isdecimal() and memory.isdecimal() and int(sm) and int(memory)):
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
    with ClockLock(pynvml, our_card(pynvml), clocks) as lock:
        yield lock.policy


def refuse_droop(conditions: Conditions, clocks: Clocks) -> None:
    """`GuardBroken` when, as read while the card was at work, either clock was not within 1 % of what was locked.

    What a card shows at idle says nothing: power and heat pull clocks down only under load.
    """
    seen = (("SM", clocks.sm, conditions.sm_mhz), ("memory", clocks.memory, conditions.memory_mhz))
    for name, wanted, got in seen:
        if not _FLOOR * wanted <= got <= wanted / _FLOOR:
            raise GuardBroken(f"the {name} clock is {got:.0f} MHz under load, not {wanted} as locked")


def clocks_of_policy(policy: str) -> Clocks | None:
    """Of a header's `clock_policy`; None when nothing was locked."""
    return clocks_of(policy.removeprefix("locked ")) if policy.startswith("locked ") else None


class ClockLock:
    """Use as a context manager. Restores when left, when the interpreter ends, and when it is told to end (SIGTERM).

    `nvml` is the module or something with its functions. `GuardBroken` when the driver refuses, or
    when the clocks cannot be given back.
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
