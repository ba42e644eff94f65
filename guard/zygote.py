"""The zygote: has imported torch, touched no GPU, and forks the guard's other processes from there.

Run as `python -m guard.zygote FD`. What costs seconds (imports) is paid once; what must be fresh
(the CUDA context, the sandbox, the candidate) is made after the fork.
"""

import contextlib
import gc
import os
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from guard.channel import ChannelClosed, Message, receive, send
from guard.sandbox.limits import die_with_parent
from guard.warden import guard_over


def main(argv: list[str]) -> None:
    line = socket.socket(fileno=int(argv[1]))
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the guard, which ends us by closing the line
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    _import_what_is_slow()
    gc.freeze()
    send(line, {"ready": True})
    while True:
        try:
            message, fds = receive(line)
        except ChannelClosed:
            os._exit(0)
        _fork(line, message, fds)


def _import_what_is_slow() -> None:
    import_module("guard.reference")
    import_module("guard.worker")


def _fork(line: socket.socket, message: Message, fds: list[int]) -> None:
    pid = os.fork()
    if pid:
        for descriptor in fds:
            os.close(descriptor)
        return
    line.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _become(message, fds)


def _become(message: Message, fds: list[int]) -> None:
    """In the child: take up the role that was asked for; never returns."""
    log = os.open(message["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    null = os.open(os.devnull, os.O_RDONLY)
    for descriptor, target in ((null, 0), (log, 1), (log, 2)):
        os.dup2(descriptor, target)
    os.close(log)
    os.close(null)
    os.environ.update(message.get("env", {}))
    tempfile.tempdir = None  # remembered from the zygote's own environment, where the child may not write
    work = _role(message, fds)
    if message["role"] == "worker":
        warden_line = socket.socket(fileno=fds[1])
        memory = message.get("memory_bytes")
        with contextlib.suppress(BaseException):
            guard_over(work, warden_line, memory)
        os._exit(71)
    os.setsid()
    try:
        work()
    except BaseException:  # noqa: BLE001 - the log is the only place left to say it
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(0)


def _role(message: Message, fds: list[int]) -> Callable[[], None]:
    def work() -> None:
        if message["role"] == "worker":
            from guard.worker import serve as serve_worker

            named = dict(zip(("inputs", "outputs", "claims"), fds[2:], strict=True))
            serve_worker(socket.socket(fileno=fds[0]), {**message, "fds": named})
        else:
            from guard.reference import serve as serve_reference

            serve_reference(socket.socket(fileno=fds[0]), message)

    return work


if __name__ == "__main__":
    main(sys.argv)
