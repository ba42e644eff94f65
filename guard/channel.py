"""Messages between the guard's processes: JSON datagrams that keep their borders, with file descriptors beside them."""

import array
import json
import os
import socket
from typing import Any

_LARGEST = 1 << 20
_MOST_FDS = 8

Message = dict[str, Any]


class ChannelClosed(Exception):
    """The other side is gone, or spoke something that is no message."""


class NotAMessage(ChannelClosed):
    """Something came that is no message."""


class ChannelTimeout(ChannelClosed):
    """No message came within the limit."""


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected ends of a SEQPACKET socket: one send is one receive, never a part of one."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _LARGEST)
    return ends


def send(end: socket.socket, message: Message, fds: tuple[int, ...] = ()) -> None:
    body = json.dumps(message).encode()
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
    try:
        end.sendmsg([body], rights)
    except OSError as error:
        raise ChannelClosed(f"cannot send: {error}") from error


def receive(end: socket.socket, limit_s: float | None = None) -> tuple[Message, list[int]]:
    """The next message and the descriptors that came with it."""
    end.settimeout(limit_s)
    try:
        body, ancillary, flags, _ = end.recvmsg(_LARGEST, socket.CMSG_SPACE(_MOST_FDS * 4))
    except TimeoutError as error:
        raise ChannelTimeout(f"no answer within {limit_s:.0f} s") from error
    except OSError as error:
        raise ChannelClosed(f"cannot receive: {error}") from error
    fds = _descriptors(ancillary)
    try:
        if flags & socket.MSG_TRUNC:
            raise NotAMessage("too large to be one")
        if not body:
            raise ChannelClosed("closed by the other side")
        return _message(body), fds
    except ChannelClosed:
        for descriptor in fds:
            os.close(descriptor)
        raise


def _descriptors(ancillary: list[tuple[int, int, bytes]]) -> list[int]:
    fds = array.array("i")
    for level, kind, rights in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(rights[: len(rights) - len(rights) % fds.itemsize])
    return list(fds)


def _message(body: bytes) -> Message:
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise NotAMessage("what came is not JSON") from error
    if not isinstance(message, dict):
        raise NotAMessage("what came is not an object")
    return message


def is_silent(end: socket.socket) -> bool:
    """True when nothing waits to be read: a worker that speaks unasked is not silent."""
    end.setblocking(False)
    try:
        end.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
