"""What a candidate can do to the guard itself: each of these once broke a judgement, or reached past the worker."""

import math
import os
import signal
import stat
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from guard import channel, reference_process, timed_pass
from guard.blame import CandidateFailed, printable
from guard.channel import NotAMessage
from guard.errors import GuardBroken
from guard.judge import judge
from guard.protocol import Protocol
from guard.reference_process import ReferenceProcess
from guard.removal import remove_tree
from guard.session import Session
from guard.verdict import Reason, ReasonCode
from guard.warden import at_work, descendants
from tasks.errors import TaskError
from tests.guard.cases import candidate, matmul_task

HEAD = "import ctypes, os, resource, signal, sys\nimport torch\n"
RUN = "\n\ndef run(A, B):\n    return torch.mm(A, B)\n"
WORKER = """
def worker():
    frame = sys._getframe()
    while type(frame.f_locals.get("self")).__name__ != "Worker":
        frame = frame.f_back
    return type(frame.f_locals["self"])
"""
ANSWERS = (
    HEAD
    + WORKER
    + """

def run(A, B):
    kind = worker()
    if not hasattr(kind, "honest"):
        kind.honest = kind._do
        kind._do = lambda self, m: {answer} if m["op"] == "tamper" else kind.honest(self, m)
    return torch.mm(A, B)
"""
)

REJECTED = {
    "ends by a signal without a name": (
        HEAD + "def run(A, B):\n    os.kill(os.getpid(), 40)\n",
        ReasonCode.RUNTIME,
    ),
    "limits its own time": (
        HEAD
        + "resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\n\n\ndef run(A, B):\n    while True:\n        pass\n",
        ReasonCode.IMPORT,
    ),
    "limits its keeper": (
        HEAD + "resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (3, 3))" + RUN,
        ReasonCode.IMPORT,
    ),
    "moves its keeper": (HEAD + "os.sched_setaffinity(os.getppid(), {0})" + RUN, ReasonCode.IMPORT),
    "slows its keeper": (
        HEAD + "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)" + RUN,
        ReasonCode.IMPORT,
    ),
    "slows everybody of its user": (
        HEAD + "os.setpriority(os.PRIO_USER, 0, 19)" + RUN,
        ReasonCode.IMPORT,
    ),
    "makes a device": (
        HEAD + "os.mknod('memory', 0o600 | 0o020000, os.makedev(1, 3))" + RUN,
        ReasonCode.IMPORT,
    ),
    "hides memory in a file": (HEAD + "os.memfd_create('more')" + RUN, ReasonCode.IMPORT),
    "notices nothing at all": (ANSWERS.format(answer="{}"), ReasonCode.PROTOCOL),
    "notices a number": (ANSWERS.format(answer="{'changes': 5}"), ReasonCode.PROTOCOL),
    "notices what is no pair": (ANSWERS.format(answer="{'changes': [1, 2]}"), ReasonCode.PROTOCOL),
    "half a character": (HEAD + "def run(A, B):\n    raise ValueError('\\ud800')\n", ReasonCode.RUNTIME),
    "an error that cannot be told": (
        HEAD
        + "class Mute(Exception):\n    def __str__(self):\n        raise self\n\n\n"
        + "def run(A, B):\n    raise Mute\n",
        ReasonCode.RUNTIME,
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_it_is_rejected_and_breaks_nothing(session: Session, quick: Protocol, name: str) -> None:
    source, code = REJECTED[name]
    verdict = judge(matmul_task(), candidate(matmul_task(), source), quick, session)
    assert verdict.reason is not None
    assert verdict.reason.code == code, verdict.reason
    assert len(verdict.digest) == 64, "what a candidate says can be stored"


def test_a_candidate_changes_no_attribute_of_a_file_outside(
    session: Session, quick: Protocol, tmp_path: Path
) -> None:
    victim = tmp_path / "victim"
    victim.touch(0o644)
    before = victim.stat()
    source = HEAD + f"os.chmod({str(victim)!r}, 0)\nos.utime({str(victim)!r}, (1, 1))" + RUN
    judge(matmul_task(), candidate(matmul_task(), source), quick, session)
    after = victim.stat()
    assert (after.st_mode, after.st_mtime) == (before.st_mode, before.st_mtime)


LEFT_BEHIND = {
    "folders deeper than Python calls": "for _ in range(1500):\n    os.mkdir('d')\n    os.chdir('d')",
    "a link to everything": "os.symlink('/', 'root')\nos.mkfifo('pipe')",
    "odd names": "open('a\\nb', 'w').close()\nopen(b'\\xff\\xfe', 'w').close()",
}


@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_what_it_leaves_in_its_folder_is_removed(session: Session, quick: Protocol, name: str) -> None:
    before = set(session.scratch.iterdir())  # the arms of comparisons that other tests made
    verdict = judge(matmul_task(), candidate(matmul_task(), HEAD + LEFT_BEHIND[name] + RUN), quick, session)
    assert verdict.status == "accepted", verdict.reason
    assert not [path for path in set(session.scratch.iterdir()) - before if path.is_dir()]


def test_a_tree_is_removed_whatever_its_depth_and_rights_and_not_through_links(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").touch()
    tree = tmp_path / "tree"
    (tree / "a" / "b").mkdir(parents=True)
    (tree / "a" / "b" / "link").symlink_to(kept)
    (tree / "a" / "b").chmod(0)
    (tree / "a").chmod(0)
    remove_tree(tree)
    assert not tree.exists()
    assert (kept / "file").exists()
    assert stat.S_IMODE(kept.stat().st_mode) != 0o700 or kept.stat().st_mode == kept.lstat().st_mode


def test_descriptors_that_come_with_a_bad_message_are_closed() -> None:
    ours, theirs = channel.pair()
    before = len(os.listdir("/proc/self/fd"))
    theirs.sendmsg([b"no json"], [(1, 1, b"\x00\x00\x00\x00")])  # SOL_SOCKET, SCM_RIGHTS, descriptor 0
    with pytest.raises(NotAMessage):
        channel.receive(ours, 1.0)
    assert len(os.listdir("/proc/self/fd")) == before
    ours.close()
    theirs.close()


SENDS_DESCRIPTORS = HEAD + (
    "\n\ndef run(A, B):\n    frame = sys._getframe()\n    while frame.f_code.co_name != 'serve':\n"
    "        frame = frame.f_back\n    channel = frame.f_globals['channel']\n    if not hasattr(channel, 'honest'):\n"
    "        channel.honest = channel.send\n"
    "        channel.send = lambda end, message, fds=(): channel.honest(end, message, (0,) * 8)\n"
    "    return torch.mm(A, B)\n"
)


def test_descriptors_that_come_with_a_reply_are_closed(session: Session, quick: Protocol) -> None:
    judge(matmul_task(), candidate(matmul_task()), quick, session)
    before = len(os.listdir("/proc/self/fd"))
    judge(matmul_task(), candidate(matmul_task(), SENDS_DESCRIPTORS), quick, session)
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_a_candidate_says_is_printable_and_short() -> None:
    assert printable("\x1b[2J\ud800 naïve\n") == "?[2J? naïve\n"
    assert len(printable("x" * 10**6)) == 2000
    failure = CandidateFailed(ReasonCode.TAMPER, "\ud800" * 5000)
    assert len(Reason(code=failure.code, message=failure.message).model_dump_json()) < 3000


CLAIMS = {
    "not even an object": "[1, 2]",
    "times that are no numbers": '{"spans_ns": [NaN, NaN]}',
    "nothing": "",
    "nesting": "[" * 100_000,
    "half a call": '{"names": ["a"], "prepared": [], "calls": [[[0, 1, 2]], [[]]]}',
    "times that are not numbers in the end": '{"names": ["a"], "prepared": [], "calls": [[[0, 1, 2]], [[0, 1, NaN]]]}',
    "times without end": '{"names": ["a"], "prepared": [], "calls": [[[0, 1, 2]], [[0, 1, Infinity]]]}',
    "numbers past all floats": '{"spans_ns": [1%s]}' % ("0" * 400),
}


@pytest.mark.parametrize("timer", ["wall", "cupti", "cuda-events"])
@pytest.mark.parametrize("name", CLAIMS)
def test_a_claim_that_is_no_record_is_the_candidates_fault(name: str, timer: str) -> None:
    class Claims:
        def ask(self, op: str, limit_s: float, **details: Any) -> dict[str, Any]:
            return {"claim_bytes": len(CLAIMS[name])}

        def claims(self, size: int) -> bytes:
            return CLAIMS[name].encode()

    trial = SimpleNamespace(
        reference=SimpleNamespace(facts={"workloads": [{"input_bytes": 1}]}),
        protocol=SimpleNamespace(warmup_calls=1, timed_calls=1),
        limit_s=lambda index, first: 1.0,
        timer=timer,
        flags=set(),
    )
    with pytest.raises(CandidateFailed) as caught:
        timed_pass._one(trial, Claims(), 0, {"arguments": [], "outputs": []})  # type: ignore[arg-type]
    assert caught.value.code == ReasonCode.TIMING
    assert math.isfinite(len(caught.value.message))


def test_a_reference_that_never_ends_is_ended(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_process, "_ANSWER_LIMIT_S", 2.0)
    task = matmul_task(reference="import torch\n\n\ndef run(A, B):\n    while True:\n        pass\n")
    pids: list[int] = []
    killed = ReferenceProcess.close

    def close(self: ReferenceProcess, patience_s: float = 10.0) -> None:
        pids.append(self._pid)
        killed(self, patience_s)

    monkeypatch.setattr(ReferenceProcess, "close", close)
    said = r"^matmul `reference`: .* still at workload m24 after 2 s; see that it ends"
    with pytest.raises(TaskError, match=said):
        session.reference(task)
    assert pids and not at_work(pids)


def test_what_a_reference_starts_ends_with_the_session(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    reference = (
        "import os, time\nimport torch\n\n\ndef run(A, B):\n    pid = os.fork()\n    if pid == 0:\n        os.setsid()\n"
        "        time.sleep(600)\n        os._exit(0)\n"
        f"    with open({str(note)!r}, 'a') as file:\n        file.write(f'{{pid}} ')\n    return torch.mm(A, B)\n"
    )
    with Session("cpu", threads=1) as opened:
        opened.reference(matmul_task(rows=(24,), reference=reference))
    assert not at_work([int(pid) for pid in note.read_text().split()])


def test_memory_that_is_shared_counts_as_well(session: Session, quick: Protocol) -> None:
    source = HEAD + (
        "import mmap\n\nheld = mmap.mmap(-1, 1 << 30)\nfor place in range(0, 1 << 30, 4096):\n    held[place] = 1"
        + RUN
    )
    protocol = quick.model_copy(update={"host_memory_gib": 0.75})
    verdict = judge(matmul_task(), candidate(matmul_task(), source), protocol, session)
    assert verdict.reason is not None
    assert verdict.reason.code == ReasonCode.MEMORY, verdict.reason


FILLS = {
    "a file": "out = open('big', 'wb', buffering=0)",
    "a file without a name": "out = open('big', 'wb', buffering=0)\nos.unlink('big')",
}


@pytest.mark.parametrize("name", FILLS)
def test_who_fills_the_disk_is_rejected_and_the_next_one_has_room(
    quick: Protocol, small_disk: Path, name: str
) -> None:
    source = HEAD + (
        f"{FILLS[name]}\ntry:\n    while True:\n        out.write(bytes(1 << 20))\nexcept OSError:\n    pass"
        + RUN
    )
    with Session("cpu", scratch=small_disk, threads=1) as opened:
        verdict = judge(matmul_task(), candidate(matmul_task(), source), quick, opened)
        after = judge(matmul_task(), candidate(matmul_task()), quick, opened)
    assert verdict.reason is not None
    assert verdict.reason.code == ReasonCode.MEMORY, verdict.reason
    assert after.status == "accepted", after.reason


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 48 MiB."""
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "none", tmp_path], check=False).returncode:
        pytest.skip("only root may mount a file system")
    try:
        yield tmp_path
    finally:
        subprocess.run(["umount", tmp_path], check=True)


SLOW = "import time\nimport torch\n\n\ndef run(A, B):\n    time.sleep(0.3)\n    return torch.mm(A, B)\n"


@pytest.mark.parametrize("victim", ["reference", "zygote", "worker"])
def test_who_kills_the_guards_processes_breaks_one_judgement_and_no_more(
    session: Session, quick: Protocol, victim: str
) -> None:
    task = matmul_task()
    assert judge(task, candidate(task), quick, session).status == "accepted"
    reference = session.reference(task)._pid

    def kill() -> None:
        zygote = session.zygote.pid
        workers = [p for p in descendants(zygote) if p != reference and _parent(p) != zygote]
        os.kill({"reference": reference, "zygote": zygote, "worker": workers[0]}[victim], signal.SIGKILL)

    killer = threading.Timer(1.0, kill)
    killer.start()
    with pytest.raises(GuardBroken):
        judge(task, candidate(task, SLOW), quick, session)
    killer.join()
    assert judge(task, candidate(task), quick, session).status == "accepted"


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])
