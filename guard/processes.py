"""The guard's end of the worker's line."""

import contextlib
import os
import signal
import socket
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from guard import channel
from guard.blame import CandidateFailed, blame, log_tail
from guard.channel import ChannelClosed, ChannelTimeout, Message, NotAMessage
from guard.errors import GuardBroken
from guard.reference_process import ReferenceProcess
from guard.runner import Zygote
from guard.shared_memory import SharedMemory
from guard.verdict import ReasonCode
from guard.warden import at_work, descendants

_READY_LIMIT_S = 180.0
_ENDING_LIMIT_S = 10.0
_ERROR_CODES = {
    "memory": ReasonCode.MEMORY, "raised": ReasonCode.RUNTIME, "kind": ReasonCode.INTERFACE,
    "count": ReasonCode.INTERFACE, "shape": ReasonCode.INTERFACE, "dtype": ReasonCode.INTERFACE,
}  # fmt: skip


class WorkerProcess:
    """W, as the guard sees it. Entering waits for READY and proves the buffers; failures until then are ours."""

    def __init__(self, zygote: Zygote, config: Mapping[str, Any], reference: ReferenceProcess) -> None:
        self._line, theirs = channel.pair()
        self._warden, warden_theirs = channel.pair()
        self._claims = os.memfd_create("claims", os.MFD_CLOEXEC)
        self._reference, self._log = reference, Path(config["log"])
        self._shared = SharedMemory(config["device"])
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
        self._shared.sweep()
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
        code, said = blame(ending, what)
        if code is None:
            raise GuardBroken(said)
        raise CandidateFailed(code, said, "died", fatal=True)
