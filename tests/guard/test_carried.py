"""What one process of a candidate leaves for the next: what it compiled, and nothing that it answered."""

import os
from pathlib import Path

import pytest

from guard import carried as carried_module
from guard.carried import Carried
from guard.judge import judge
from guard.protocol import SEARCH
from guard.session import Session
from guard.shared_memory import SharedMemory
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
