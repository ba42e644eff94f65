"""The zygote: has imported torch, touched no GPU, and forks the guard's other processes from there.

Run as `python -m guard.zygote FD judging|programs`. What costs seconds (imports) is paid once; what must be
fresh (the CUDA context, the sandbox, the candidate) is made after the fork.
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
from typing import NoReturn

from guard.channel import ChannelClosed, Message, receive, send
from guard.sandbox.limits import adopt_orphans, die_with_parent
from guard.warden import Limits, end_descendants, guard_over


def main(argv: list[str]) -> None:
    line = socket.socket(fileno=int(argv[1]))
    die_with_parent()
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the guard, which ends us by closing the line
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    _import_what_is_slow(argv[2])
    gc.freeze()
    send(line, {"ready": True})
    keepers = [os.getpid(), os.getppid()]
    while True:
        try:
            message, fds = receive(line)
        except ChannelClosed:
            end_descendants()
            os._exit(0)
        pid = _fork(line, {**message, "keepers": keepers}, fds)
        if message["role"] == "reference":
            keepers = [*keepers[:2], pid]  # there is one at a time


def _import_what_is_slow(kind: str) -> None:
    if kind == "programs":
        from guard.cross_compile.lazy_dynamo import put_off_dynamo

        put_off_dynamo()
        import_module("guard.cross_compile.examination")
        from guard.cross_compile.warm import warm_up

        warm_up()
        return
    import_module("guard.reference")
    import_module("guard.worker")


def _fork(line: socket.socket, message: Message, fds: list[int]) -> int:
    pid = os.fork()
    if pid == 0:
        line.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _become(message, fds)
    for descriptor in fds:
        os.close(descriptor)
    return pid


def _become(message: Message, fds: list[int]) -> NoReturn:
    """In the child: take up the role that was asked for; never returns."""
    log = os.open(message["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    null = os.open(os.devnull, os.O_RDONLY)
    # what a reference prints nobody reads, and it may be much
    says = os.open(os.devnull, os.O_WRONLY) if message["role"] == "reference" else log
    for descriptor, target in ((null, 0), (says, 1), (log, 2)):
        os.dup2(descriptor, target)
    os.close(log)
    os.close(null)
    os.environ.update(message.get("env", {}))
    tempfile.tempdir = None  # remembered from the zygote's own environment, where the child may not write
    work = _role(message, fds)
    if message["role"] != "reference":
        warden_line = socket.socket(fileno=fds[0 if message["role"] == "program" else 1])
        buffers = message.get("input_size", 0) + message.get("output_size", 0)
        limits = Limits(message.get("memory_bytes"), buffers, Path(message["scratch"]))
        with contextlib.suppress(BaseException):
            guard_over(work, warden_line, limits)
        os._exit(71)
    os.setsid()
    die_with_parent()
    try:
        work()
    except BaseException:  # noqa: BLE001 - the log is the only place left to say it
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(0)


def _role(message: Message, fds: list[int]) -> Callable[[], None]:
    def work() -> None:
        if message["role"] == "program":
            from guard.program import main as run_program

            run_program(["", *message["arguments"]])
            os._exit(0)
        line = socket.socket(fileno=fds[0])
        if message["role"] == "worker":
            from guard.worker import serve as serve_worker

            named = dict(zip(("inputs", "outputs", "claims"), fds[2:], strict=True))
            serve_worker(line, {**message, "fds": named})
        else:
            from guard.reference import serve as serve_reference

            send(line, {"pid": os.getpid()})
            serve_reference(line, message)

    return work


if __name__ == "__main__":
    main(sys.argv)
