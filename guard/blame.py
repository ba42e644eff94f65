"""Whose fault it is when a process fails, and in what words it is told."""

import contextlib
import select
import signal
from pathlib import Path

from guard.channel import Message
from guard.verdict import Reason, ReasonCode

_LONGEST_MESSAGE = 2000


class CandidateFailed(Exception):
    """Something after READY that is the candidate's doing; becomes the verdict's reason.

    `part` is the worker's own word for it (`raised`, `shape`, ...), and `fatal` says that the worker is gone.
    """

    def __init__(self, code: ReasonCode, message: str, part: str = "", fatal: bool = False) -> None:
        self.code, self.message, self.part, self.fatal = code, printable(message), part, fatal
        self.workload: str | None = None
        super().__init__(self.message)

    @property
    def reason(self) -> Reason:
        return Reason(code=self.code, message=self.message, workload=self.workload)


def printable(text: str, size: int = _LONGEST_MESSAGE) -> str:
    """A candidate's own words as they may be stored and shown: no half characters, no control of a terminal."""
    whole = text[:size].encode(errors="replace").decode()
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in whole)


def has_ended(handle: int, limit_s: float = 0.0) -> bool:
    """Whether the process behind a pidfd has ended, or does so within the limit."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    return bool(waiting.poll(limit_s * 1e3))


def log_tail(path: Path, size: int = 4000) -> str:
    """The last bytes of a log; empty where there is none."""
    try:
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - size))
            return log.read().decode(errors="replace")
    except OSError:
        return ""


def blame(ending: Message, what: str) -> tuple[ReasonCode | None, str]:
    peak = f"{ending['peak_bytes'] / 2**30:.1f} GiB"
    if ending["over_memory"]:
        return ReasonCode.MEMORY, f"the worker {what}: ended at {peak} of memory, over its limit"
    if ending["over_disk"]:
        return ReasonCode.MEMORY, f"the worker {what}: ended when its files had filled the disk"
    number = ending["signal"]
    if number == signal.SIGKILL:
        return None, f"the worker {what}: killed from outside (out of memory?) while it held {peak}"
    if number is not None:
        return ReasonCode.RUNTIME, f"the worker {what}: ended by {_signal_name(number)}"
    return ReasonCode.PROTOCOL, f"the worker {what}: exited with {ending['exit']}"


def _signal_name(number: int) -> str:
    """Real-time signals have numbers only."""
    with contextlib.suppress(ValueError):
        return signal.Signals(number).name
    return f"signal {number}"
