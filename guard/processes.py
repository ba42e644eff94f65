"""The guard's ends of its two helpers' lines, and whose fault it is when one of them fails."""

import contextlib
import os
import select
import signal
import socket
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from guard import channel
from guard.channel import ChannelClosed, ChannelTimeout, Message, NotAMessage
from guard.errors import GuardBroken
from guard.runner import Zygote
from guard.verdict import Reason, ReasonCode
from guard.warden import at_work, descendants
from tasks.errors import TaskError

_READY_LIMIT_S = 180.0
_ANSWER_LIMIT_S = 900.0
_ENDING_LIMIT_S = 10.0
_LONGEST_MESSAGE = 2000
_ERROR_CODES = {
    "memory": ReasonCode.MEMORY, "raised": ReasonCode.RUNTIME, "kind": ReasonCode.INTERFACE,
    "count": ReasonCode.INTERFACE, "shape": ReasonCode.INTERFACE, "dtype": ReasonCode.INTERFACE,
}  # fmt: skip


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


class ReferenceProcess:
    """R, as the guard sees it: whatever goes wrong with it is never the candidate's fault."""

    def __init__(self, zygote: Zygote, config: Mapping[str, Any]) -> None:
        self.fds: list[int] = []
        self._handle, self._pid = -1, 0
        self._line, theirs = channel.pair()
        try:
            zygote.fork("reference", config, (theirs.fileno(),))
            theirs.close()
            self._pid = int(channel.receive(self._line, _READY_LIMIT_S)[0]["pid"])
            self._handle = os.pidfd_open(self._pid)
            message, self.fds = channel.receive(self._line, _ANSWER_LIMIT_S)
            self.facts: Message = _sound(message)["ready"]
        except BaseException as error:
            self.close(patience_s=0.0)
            if not isinstance(error, ChannelClosed | OSError):
                raise
            said = log_tail(Path(config["log"])).strip().splitlines()
            last = f" ({printable(said[-1], 300)})" if said else ""
            raise GuardBroken(f"the reference process failed before it was ready: {error}{last}") from error

    def ask(self, op: str, **details: Any) -> Message:
        try:
            channel.send(self._line, {"op": op, **details})
            message, _ = channel.receive(self._line, _ANSWER_LIMIT_S)
        except ChannelClosed as error:
            raise GuardBroken(f"the reference process failed during {op!r}: {error}") from error
        return _sound(message)

    @property
    def is_alive(self) -> bool:
        return self._handle >= 0 and not _has_ended(self._handle)

    def close(self, patience_s: float = _ENDING_LIMIT_S) -> None:
        """End it; one that is busy for longer than `patience_s`, or left children of its group, is killed."""
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)
        self._line.close()
        if self._handle >= 0:
            if self.is_alive:  # else its number may be somebody else's by now
                _has_ended(self._handle, patience_s)  # its memory is wanted next
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._pid, signal.SIGKILL)
                _has_ended(self._handle, _ENDING_LIMIT_S)
            os.close(self._handle)
            self._handle = -1
        for descriptor in self.fds:
            os.close(descriptor)
        self.fds = []


def _has_ended(handle: int, limit_s: float = 0.0) -> bool:
    """Whether the process behind a pidfd has ended, or does so within the limit."""
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    return bool(waiting.poll(limit_s * 1e3))


def _sound(message: Message) -> Message:
    fault = message.get("fault")
    if fault is None:
        return message
    if fault["kind"] == "task":
        raise TaskError(printable(fault["message"]))
    raise GuardBroken(printable(fault["message"]))


def log_tail(path: Path, size: int = 4000) -> str:
    """The last bytes of a log; empty where there is none."""
    try:
        with path.open("rb") as log:
            log.seek(max(0, path.stat().st_size - size))
            return log.read().decode(errors="replace")
    except OSError:
        return ""


class WorkerProcess:
    """W, as the guard sees it. Entering waits for READY and proves the buffers; failures until then are ours."""

    def __init__(self, zygote: Zygote, config: Mapping[str, Any], reference: ReferenceProcess) -> None:
        self._line, theirs = channel.pair()
        self._warden, warden_theirs = channel.pair()
        self._claims = os.memfd_create("claims", os.MFD_CLOEXEC)
        self._reference, self._log = reference, Path(config["log"])
        self._number, self.pid, self._warden_pid, self._handle = 0, 0, 0, -1
        fds = (theirs.fileno(), warden_theirs.fileno(), *reference.fds, self._claims)
        zygote.fork("worker", config, fds)
        theirs.close()
        warden_theirs.close()

    def __enter__(self) -> Self:
        try:
            born = channel.receive(self._warden, _READY_LIMIT_S)[0]
            self.pid, self._warden_pid = born["pid"], born["warden"]
            self._handle = os.pidfd_open(self.pid)
            ready = channel.receive(self._line, _READY_LIMIT_S)[0]["ready"]
        except (ChannelClosed, KeyError, OSError) as error:
            self.close()
            said = self.log_tail().strip().splitlines()
            raise GuardBroken(
                f"the worker failed before it was ready: {said[-1] if said else error}"
            ) from error
        self.isolation: str = ready["isolation"]
        size = self._reference.ask("null")["bytes"]
        try:
            self.ask("null", _READY_LIMIT_S, bytes=size)
        except CandidateFailed as error:
            self.close()
            raise GuardBroken(f"the worker cannot use the buffers: {error}") from error
        if not self._reference.ask("null-check")["same"]:
            self.close()
            raise GuardBroken("what the worker writes does not arrive in the reference's memory")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def ask(self, op: str, limit_s: float, **details: Any) -> Message:
        """One request, one reply, within the limit. Whatever else happens is the candidate's doing.

        Between a reply and the next request the worker stands still: nothing can be finished after the reply
        that claimed it, and nothing begun on values that were not handed over yet.
        """
        self._number += 1
        if not channel.is_silent(self._line):
            self._raise_broken("spoke without being asked")
        try:
            self.thaw()
            channel.send(self._line, {"op": op, "i": self._number, **details})
            message, sent = channel.receive(self._line, limit_s)
            self._signal(signal.SIGSTOP)
        except ChannelTimeout as error:
            self.close()
            raise CandidateFailed(ReasonCode.TIMEOUT, f"{op}: {error}", "timeout", fatal=True) from error
        except NotAMessage as error:
            self._raise_broken(f"answered what is no message ({error})")
        except ChannelClosed:
            self._raise_ending(f"went away during {op!r}")
        for descriptor in sent:
            os.close(descriptor)  # nobody asked for it, and every one kept is one less for the guard
        if message.get("i") != self._number:
            self._raise_broken("answered something else than was asked")
        if "error" in message:
            part = str(message["error"])
            raise CandidateFailed(
                _ERROR_CODES.get(part, ReasonCode.RUNTIME), str(message.get("message", "")), part
            )
        return message

    def claims(self, size: int) -> bytes:
        """What the worker says it recorded: a claim, to be believed only within outside bounds."""
        return os.pread(self._claims, min(size, 1 << 28), 0)

    def children(self) -> list[int]:
        """Processes that the worker started and that have not ended, whoever their parent is by now."""
        return [pid for pid in at_work(descendants(self._warden_pid)) if pid != self.pid]

    def thaw(self) -> None:
        """Let it run, to reap its children for instance, without asking anything."""
        self._signal(signal.SIGCONT)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._handle, number)

    def log_tail(self, size: int = 4000) -> str:
        return log_tail(self._log, size)

    def close(self) -> None:
        """End the worker and all it started; waits until the warden says that nothing is left."""
        if self._claims < 0:
            return
        self._line.close()
        with contextlib.suppress(OSError):
            self._warden.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ChannelClosed):
            self._ending()
        self._warden.close()
        os.close(self._claims)
        self._claims = -1
        if self._handle >= 0:
            os.close(self._handle)

    def _ending(self) -> Message:
        while True:
            message, _ = channel.receive(self._warden, _ENDING_LIMIT_S)
            if "exit" in message:
                return message

    def _raise_broken(self, what: str) -> None:
        """It is there and does not keep to one reply a request."""
        self.close()
        raise CandidateFailed(ReasonCode.PROTOCOL, f"the worker {what}", "died", fatal=True)

    def _raise_ending(self, what: str) -> None:
        """The line is broken: ask the warden how the worker ended, then divide the blame."""
        self._line.close()
        try:
            ending = self._ending()
        except ChannelTimeout:
            self._raise_broken(f"{what}, and goes on without its line")
        except ChannelClosed as error:
            self.close()
            raise GuardBroken(f"the worker {what}, and nobody saw how it ended") from error
        self.close()
        code, said = _blame(ending, what)
        if code is None:
            raise GuardBroken(said)
        raise CandidateFailed(code, said, "died", fatal=True)


def _blame(ending: Message, what: str) -> tuple[ReasonCode | None, str]:
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
