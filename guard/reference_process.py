"""The guard's end of the reference's line."""

import contextlib
import os
import signal
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from guard import channel
from guard.blame import has_ended, log_tail, printable
from guard.channel import ChannelClosed, Message
from guard.errors import GuardBroken
from guard.runner import Zygote
from tasks.errors import TaskError

_READY_LIMIT_S = 180.0
_ANSWER_LIMIT_S = 900.0
_ENDING_LIMIT_S = 10.0


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
        return self._handle >= 0 and not has_ended(self._handle)

    def close(self, patience_s: float = _ENDING_LIMIT_S) -> None:
        """End it; one that is busy for longer than `patience_s`, or left children of its group, is killed."""
        with contextlib.suppress(OSError):
            self._line.shutdown(socket.SHUT_WR)
        self._line.close()
        if self._handle >= 0:
            if self.is_alive:  # else its number may be somebody else's by now
                has_ended(self._handle, patience_s)  # its memory is wanted next
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._pid, signal.SIGKILL)
                has_ended(self._handle, _ENDING_LIMIT_S)
            os.close(self._handle)
            self._handle = -1
        for descriptor in self.fds:
            os.close(descriptor)
        self.fds = []


def _sound(message: Message) -> Message:
    fault = message.get("fault")
    if fault is None:
        return message
    if fault["kind"] == "task":
        raise TaskError(printable(fault["message"]))
    raise GuardBroken(printable(fault["message"]))
