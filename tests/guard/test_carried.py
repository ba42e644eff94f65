"""What one process of a candidate leaves for the next: what it compiled, and nothing that it answered."""

import os
from pathlib import Path

import pytest
import torch

from guard import carried as carried_module
from guard.buffers.memfd import MemfdBuffer
from guard.carried import Carried
from guard.judge import judge
from guard.protocol import SEARCH
from guard.session import Session
from guard.shared_memory import SharedMemory
from tests.guard.cases import candidate, matmul_task
from tests.museum.cases import CASES
from tests.museum.tasks import TASKS


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    (tmp_path / "scratch" / "cache").mkdir(parents=True)
    (tmp_path / "scratch" / "cache" / "kernel.so").write_bytes(b"code")
    return tmp_path / "scratch"


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def test_the_folder_comes_back_as_it_was_when_the_build_phase_ended(scratch: Path) -> None:
    carried = Carried(scratch, scratch.parent / "kept")
    (scratch / "cache" / "link").symlink_to("kernel.so")
    (scratch / "cache" / "kernel.so").chmod(0o700)
    carried.take()
    (scratch / "answer.pt").write_bytes(b"answer")
    (scratch / "cache" / "kernel.so").write_bytes(b"answer")
    carried.renew()
    assert names(scratch) == {"cache", "cache/kernel.so", "cache/link"}
    assert (scratch / "cache" / "link").read_bytes() == b"code"
    assert os.access(scratch / "cache" / "kernel.so", os.X_OK)


def test_only_the_first_process_is_taken(scratch: Path) -> None:
    carried = Carried(scratch, scratch.parent / "kept")
    carried.take()
    (scratch / "answer.pt").write_bytes(b"answer")
    carried.take()
    carried.renew()
    assert names(scratch) == {"cache", "cache/kernel.so"}


@pytest.mark.parametrize("limit", ["_MOST_FILES", "_MOST_BYTES"])
def test_more_than_is_worth_carrying_is_not_carried(
    scratch: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carried_module, limit, 1)
    carried = Carried(scratch, scratch.parent / "kept")
    carried.take()
    carried.renew()
    assert names(scratch) == set()


def test_pipes_and_links_out_of_the_folder_are_not_followed(scratch: Path) -> None:
    os.mkfifo(scratch / "pipe")
    (scratch.parent / "secret").write_text("secret")
    (scratch / "out").symlink_to(scratch.parent / "secret")
    (scratch / "up").symlink_to(scratch.parent, target_is_directory=True)
    carried = Carried(scratch, scratch.parent / "kept")
    carried.take()
    carried.renew()
    assert (scratch / "out").is_symlink()
    assert (scratch / "up").is_symlink()
    assert not (scratch / "pipe").exists()


def test_answers_on_the_disk_are_gone_when_their_questions_come_back(session: Session) -> None:
    case = CASES["answers_for_the_next_process"]
    protocol = SEARCH.model_copy(update={"official_rounds": 1, "measured_calls": 4, "precision": "strict"})
    verdict = judge(TASKS[case.task](), case.candidate(), protocol, session)
    assert verdict.status == "accepted", verdict.reason
    # one official round and one call to build on may be remembered; nothing that was timed
    said = [line for line in verdict.log.splitlines() if line.startswith("remembered")]
    assert said == ["remembered 2 answers"]


def test_what_a_worker_leaves_in_shared_memory_is_taken_away(tmp_path: Path) -> None:
    (tmp_path / "others").write_text("there before")
    shared = SharedMemory("cuda", tmp_path)
    (tmp_path / "answer").write_text("left behind")
    held = (tmp_path / "held").open("w")
    (tmp_path / "link").symlink_to(tmp_path / "others")
    shared.sweep()
    assert names(tmp_path) == {"others", "held", "link"}
    held.close()
    shared.sweep()
    assert names(tmp_path) == {"others", "link"}


def test_on_a_cpu_shared_memory_is_left_alone(tmp_path: Path) -> None:
    shared = SharedMemory("cpu", tmp_path)
    (tmp_path / "somebody's").write_text("not a worker's")
    shared.sweep()
    assert names(tmp_path) == {"somebody's"}


LEAVES_A_MARK = """
import mmap, os, torch

MARK = b"an answer for later"
held = [n for n in range(3, 32) if os.path.islink(f"/proc/self/fd/{n}")]
held = [n for n in held if "memfd:kernelarc" in os.readlink(f"/proc/self/fd/{n}")]
buffers = [mmap.mmap(n, os.fstat(n).st_size) for n in held]
print("buffers", len(buffers), "marks", sum(MARK in buffer[:] for buffer in buffers), flush=True)


def run(A, B):
    for buffer in buffers:
        buffer[-len(MARK):] = MARK
    return torch.mm(A, B)
"""


def test_what_a_worker_leaves_in_the_buffers_is_gone_for_the_next(session: Session) -> None:
    task = matmul_task()
    protocol = SEARCH.model_copy(update={"official_rounds": 1, "measured_calls": 2})
    verdict = judge(task, candidate(task, LEAVES_A_MARK), protocol, session)
    assert verdict.status == "accepted", verdict.reason
    assert verdict.log == "buffers 4 marks 0\n"  # of the second process, which holds each of the two twice


def test_a_cleared_buffer_holds_zeros_and_still_serves() -> None:
    buffer = MemfdBuffer.make(1 << 16)
    other = MemfdBuffer.attach(os.dup(buffer.fd), buffer.size)
    other.raw(0, buffer.size).fill_(7)
    buffer.clear()
    assert not bool(other.raw(0, buffer.size).any())
    other.raw(100, 3).fill_(5)
    assert torch.equal(buffer.raw(99, 5), torch.tensor([0, 5, 5, 5, 0], dtype=torch.uint8))
