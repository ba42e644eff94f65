"""One session through many hostile candidates: nothing of them is left, and the honest one after them is accepted."""

import os
from collections.abc import Iterator
from itertools import cycle, islice

import pytest

from guard.judge import judge
from guard.protocol import SMOKE, Protocol
from guard.session import Session
from guard.warden import at_work, descendants
from tests.guard.alive import alive_below
from tests.guard.cases import candidate, matmul_task

HEAD = "import array, ctypes, mmap, os, signal, socket, sys, threading, time\nimport torch\n\n"
RUN = "\n\n\ndef run(A, B):\n    return torch.mm(A, B)\n"
INSIDE = "\n\n\ndef run(A, B):\n    {}\n    return torch.mm(A, B)\n"
LINE = "next(f for f in map(sys._getframe, range(20)) if f.f_code.co_name == 'serve').f_locals['line']"
SOURCES = (
    "os.fork() or (os.setsid(), time.sleep(600))" + RUN,
    "if os.fork() == 0:\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(600)\n    os._exit(0)"
    + RUN,
    "for _ in range(40):\n    threading.Thread(target=time.sleep, args=(1e6,)).start()" + RUN,
    "for _ in range(500):\n    os.mkdir('d')\n    os.chdir('d')" + RUN,
    "for number in range(2000):\n    open(str(number), 'w').close()" + RUN,
    "os.symlink('/', 'root')\nos.mkfifo('pipe')\nopen('a\\nb', 'w').close()" + RUN,
    "kept = []\ntry:\n    while True:\n        kept.append(os.open('/dev/null', 0))\nexcept OSError:\n    pass"
    + RUN,
    "os.closerange(0, 100)" + RUN,
    "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nos.umask(0o777)" + RUN,
    "kept = [socket.socketpair() for _ in range(100)]" + RUN,
    "kept = mmap.mmap(-1, 1 << 28)\nfor place in range(0, 1 << 28, 4096):\n    kept[place] = 1" + RUN,
    "sys.modules.clear()" + RUN,
    INSIDE.format("os.kill(os.getpid(), 40)"),
    INSIDE.format("os._exit(3)"),
    INSIDE.format("ctypes.string_at(8)"),
    INSIDE.format("raise SystemExit('\\ud800')"),
    INSIDE.format("os.kill(os.getpid(), signal.SIGSTOP)"),
    INSIDE.format("time.sleep(600)"),
    INSIDE.format(f"{LINE}.sendmsg([b'x'], [(1, 1, array.array('i', [0] * 8))])"),
    INSIDE.format(f"{LINE}.send(b'[' * 200_000)"),
)
QUICK = SMOKE.model_copy(
    update={"official_rounds": 1, "measured_calls": 1, "build_limit_s": 3.0, "host_memory_gib": 2.0}
)


@pytest.fixture
def fresh() -> Iterator[Session]:
    with Session("cpu", threads=1) as opened:
        yield opened


def _go_through(session: Session, protocol: Protocol, count: int) -> None:
    task = matmul_task(rows=(24,))
    honest = judge(task, candidate(task), protocol.model_copy(update={"build_limit_s": 60.0}), session)
    assert honest.status == "accepted", honest.reason
    (reference,) = alive_below(session)
    descriptors, files = _descriptors(), set(session.scratch.iterdir())
    for number, source in enumerate(islice(cycle(SOURCES), count)):
        judge(task, candidate(task, f"{HEAD}{source}# {number}\n"), protocol, session)
        assert alive_below(session) == [reference], f"processes are left of {source}"
        assert set(session.scratch.iterdir()) == files, f"files are left of {source}"
        assert _descriptors() == descriptors, f"descriptors are left of {source}"
    again = candidate(task, HEAD + RUN)
    verdict = judge(task, again, protocol.model_copy(update={"build_limit_s": 60.0}), session)
    assert verdict.status == "accepted", verdict.reason


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.slow
def test_twenty_hostile_candidates_leave_nothing(fresh: Session) -> None:
    assert len(SOURCES) == 20
    _go_through(fresh, QUICK, len(SOURCES))
    below = [fresh.zygote.pid, *descendants(fresh.zygote.pid)]
    scratch = fresh.scratch
    fresh.__exit__(None, None, None)
    assert not at_work(below)
    assert not scratch.exists()


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_two_hundred_hostile_candidates_leave_nothing(fresh: Session) -> None:
    _go_through(fresh, QUICK, 200)
