"""The guard's end of the reference's line."""

import contextlib
import os
import signal
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from guard import channel
from guard.blame import has_ended, log_tail, printable
from guard.channel import ChannelClosed, ChannelTimeout, Message
from guard.errors import GuardBroken
from guard.runner import Zygote
from tasks.errors import TaskError

_READY_LIMIT_S = 180.0
_ANSWER_LIMIT_S = 600.0
"""As long as a whole evaluation may take: what the reference alone is longer at cannot be judged."""
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
            self.facts: Message = self._proved(config)["ready"]
        except BaseException as error:
            self.close(patience_s=0.0)
            if not isinstance(error, ChannelClosed | OSError):
                raise
            said = log_tail(Path(config["log"])).strip().splitlines()
            last = f" ({printable(said[-1], 300)})" if said else ""
            raise GuardBroken(f"the reference process failed before it was ready: {error}{last}") from error

    def _proved(self, config: Mapping[str, Any]) -> Message:
        """Wait until generator and reference ran on every workload.

        Where they do not end that is the definition's fault; before the first workload it is the machine's.
        """
        until, workload = time.monotonic() + _ANSWER_LIMIT_S, ""
        while True:
            try:
                message, self.fds = channel.receive(self._line, max(0.001, until - time.monotonic()))
            except ChannelTimeout as error:
                if not workload:
                    raise ChannelTimeout(f"no answer within {_ANSWER_LIMIT_S:.0f} s") from error
                raise TaskError(
                    f"it and the generator of its inputs were still at workload {workload} after {_ANSWER_LIMIT_S:.0f} s",
                    file=config.get("name"), field="reference",
                    mend="see that it ends, or give smaller axes, fewer workloads, or another device",
                ) from error  # fmt: skip
            if "proving" not in message:
                return _sound(message)
            workload = str(message["proving"])

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
