"""The warden: a small trusted parent of one worker, which ends all that the worker started and tells how.

It is forked from the zygote, adopts orphans, watches memory, and never runs a line of a candidate.
"""

import contextlib
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from guard.channel import ChannelClosed, send
from guard.sandbox.limits import adopt_orphans, die_with_parent
from guard.scratch_use import ScratchUse

_POLL_S = 0.05
_PATIENCE_S = 5.0


@dataclass(frozen=True)
class Limits:
    """What a worker and all it started may hold together."""

    memory_bytes: int | None
    buffer_bytes: int
    """Shared memory that is the reference's."""
    scratch: Path


def guard_over(work: Callable[[], None], line: socket.socket, limits: Limits) -> None:
    """Fork, let the child do `work`, and stay until it is gone with all its descendants. Never returns.

    `line` is told `{pid, warden}` at once and `{exit, signal, peak_bytes, over_memory, over_disk}` at the end; when
    the other side closes it, everything is ended.
    """
    adopt_orphans()
    die_with_parent()
    os.setsid()
    child = os.fork()
    if child == 0:
        line.close()
        _run(work)
    with contextlib.suppress(ChannelClosed):
        send(line, {"pid": child, "warden": os.getpid()})
    status, peak, over = _watch(child, line, limits)
    end_descendants()
    ended = {"exit": None, "signal": None, "peak_bytes": peak, **over}
    if os.WIFSIGNALED(status):
        ended["signal"] = os.WTERMSIG(status)
    else:
        ended["exit"] = os.WEXITSTATUS(status)
    with contextlib.suppress(ChannelClosed):
        send(line, ended)
    os._exit(0)


def _run(work: Callable[[], None]) -> None:
    try:
        work()
    except BaseException:  # noqa: BLE001 - the log is the only place left to say it
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(70)


def _watch(child: int, line: socket.socket, limits: Limits) -> tuple[int, int, dict[str, bool]]:
    peak, use = 0, ScratchUse(limits.scratch)
    over = {"over_memory": False, "over_disk": False}
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status, peak, over
        ready, _, _ = select.select([line], [], [], _POLL_S)
        pids = descendants(os.getpid())  # the child among them: it must not count twice
        held = resident_bytes(pids, limits.buffer_bytes)
        peak = max(peak, held)
        over["over_memory"] = limits.memory_bytes is not None and held > limits.memory_bytes
        over["over_disk"] = use.is_over(pids)
        if ready or any(over.values()):
            # nothing is ever sent to a warden: readable means closed
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
            return status, peak, over


def descendants(root: int) -> list[int]:
    """Every living process below `root`, zombies included."""
    below: list[int] = []
    queue = [root]
    while queue:
        for child in _children(queue.pop()):
            below.append(child)
            queue.append(child)
    return below


def at_work(pids: list[int]) -> list[int]:
    """Those that have not ended: a zombie only waits for somebody to ask how it went."""
    return [pid for pid in pids if _state(pid) not in ("Z", "X", "")]


def _state(pid: int) -> str:
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    return ""


def end_descendants() -> None:
    """Kill and reap until no descendant is left; orphans arrive here because this process adopts them."""
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        below = descendants(os.getpid())
        for pid in below:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if not below:
            return
        time.sleep(0.002)


def resident_bytes(pids: list[int], buffer_bytes: int = 0) -> int:
    """Memory held: private, and shared beyond the buffers, which belong to the reference; no files' pages."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, ValueError, IndexError):
            lines = Path(f"/proc/{pid}/status").read_text().splitlines()
            kib = {name: int(value.split()[0]) for name, _, value in (line.partition(":") for line in lines)
                   if name in ("RssAnon", "RssShmem")}  # fmt: skip
            total += kib.get("RssAnon", 0) * 1024 + max(0, kib.get("RssShmem", 0) * 1024 - buffer_bytes)
    return total


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += [int(child) for child in (thread / "children").read_text().split()]
    return found
