import errno
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from guard.errors import GuardBroken
from guard.verdict import Verdict
from submissions.files import NAMES, files
from submissions.package import package
from submissions.submission import Submission
from submissions.verify import verify
from submissions.write import expect_writable, write
from tasks.errors import TaskError
from tests.submissions.builders import a_candidate, a_context, a_task, a_verdict, draft, ready


def everything_below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def test_a_folder_holds_the_six_files_and_verifies(tmp_path: Path) -> None:
    for submission in (ready(), draft()):
        folder = write(submission, tmp_path)
        assert folder == tmp_path / submission.folder
        assert sorted(path.name for path in folder.iterdir()) == sorted(NAMES)
        assert verify(folder) == ()


def test_made_twice_from_the_same_verdict_it_is_byte_identical() -> None:
    first, second = files(ready()), files(ready())
    assert first == second


def test_a_verdict_read_back_from_a_journal_gives_the_same_bytes() -> None:
    task = a_task()
    candidate = a_candidate(task)
    verdict = a_verdict(task, candidate)
    shuffled = verdict.model_dump(mode="json")
    shuffled = {name: shuffled[name] for name in sorted(shuffled, reverse=True)}
    shuffled["environment"]["libraries"] = dict(reversed(shuffled["environment"]["libraries"].items()))
    again = Verdict.model_validate(shuffled)
    assert files(package(task, candidate, again, context=a_context(again))) == files(ready())


def test_another_process_with_another_hash_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    program = (
        "import pathlib, sys; from submissions.write import expect_writable, write;"
        "from tests.submissions.builders import draft;"
        "write(draft(), pathlib.Path(sys.argv[1]))"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": f"Etc/GMT+{seed}"}
        subprocess.run([sys.executable, "-c", program, str(tmp_path / seed)], check=True, env=environment)
    made = [
        {
            str(p.relative_to(tmp_path / seed)): p.read_bytes()
            for p in (tmp_path / seed).rglob("*.*")
            if p.is_file()
        }
        for seed in ("1", "2")
    ]
    assert made[0] == made[1]
    assert len(made[0]) == len(NAMES) - 1


def test_writing_again_changes_nothing(tmp_path: Path) -> None:
    folder = write(draft(), tmp_path)
    before = {path: path.stat().st_mtime_ns for path in everything_below(tmp_path)}
    assert write(draft(), tmp_path) == folder
    assert {path: path.stat().st_mtime_ns for path in everything_below(tmp_path)} == before


def test_a_spoilt_folder_of_the_same_name_is_not_written_over(tmp_path: Path) -> None:
    folder = write(draft(), tmp_path)
    (folder / "REPORT.md").write_text("# ready: all is well\n")
    with pytest.raises(TaskError, match=r"does not verify.*remove the folder"):
        write(draft(), tmp_path)
    assert (folder / "REPORT.md").read_text() == "# ready: all is well\n"


def test_eight_writers_at_once_leave_one_whole_folder(tmp_path: Path) -> None:
    made: list[Path] = []
    threads = [threading.Thread(target=lambda: made.append(write(draft(), tmp_path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [tmp_path / draft().folder] * 8
    assert len(list(made[0].parent.iterdir())) == 1
    assert verify(made[0]) == ()


class FullDisk:
    """Lets `steps` calls of the writing system calls through, then says that the disk is full."""

    def __init__(self, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left, self.refused = steps, ""
        for name in ("mkdir", "open", "write", "fsync", "rename"):
            monkeypatch.setattr(os, name, self._limited(name, getattr(os, name)))

    def _limited(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def limited(*arguments: Any, **named: Any) -> Any:
            if self.refused:
                return call(*arguments, **named)
            if self.left == 0:
                self.refused = name
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            self.left -= 1
            return call(*arguments, **named)

        return limited


def test_a_disk_that_fills_up_at_any_step_leaves_nothing(tmp_path: Path) -> None:
    submission = draft()
    refused = set()
    for steps in range(200):
        root = tmp_path / str(steps)
        with pytest.MonkeyPatch.context() as monkeypatch:
            disk = FullDisk(steps, monkeypatch)
            if disk_held(submission, root, disk):
                break
        refused.add(disk.refused)
        assert everything_below(root) == []
        assert not root.exists()
    else:
        raise AssertionError("the disk was never large enough")
    assert refused == {"mkdir", "open", "write", "fsync", "rename"}


def disk_held(submission: Submission, root: Path, disk: FullDisk) -> bool:
    try:
        write(submission, root)
    except GuardBroken as error:
        assert "No space left" in str(error)
        return False
    assert not disk.refused
    return True


def test_folders_that_were_there_before_stay_when_the_disk_is_full(tmp_path: Path) -> None:
    kept = tmp_path / "draft" / "L1"
    kept.mkdir(parents=True)
    with pytest.MonkeyPatch.context() as monkeypatch:
        FullDisk(4, monkeypatch)
        with pytest.raises(GuardBroken):
            write(draft(), tmp_path)
    assert everything_below(tmp_path) == [tmp_path / "draft", kept]


def test_an_interrupt_in_the_middle_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(draft(), tmp_path / "root")
    assert not (tmp_path / "root").exists()


def test_a_real_full_file_system_leaves_nothing(tmp_path: Path) -> None:
    if shutil.which("unshare") is None:
        pytest.skip("needs unshare")
    program = (
        "import pathlib, sys; from guard.errors import GuardBroken; from submissions.write import expect_writable, write;"
        "from tests.submissions.builders import draft; root = pathlib.Path(sys.argv[1])\n"
        "try: write(draft(), root)\n"
        "except GuardBroken as error: print(error)\n"
        "print(sorted(root.rglob('*')))"
    )
    mount = 'mount -t tmpfs -o size=16k none "$1" || exit 77; shift; exec "$@"'
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", mount, "sh", str(tmp_path)]
    done = subprocess.run(
        [*command, sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("may not mount a file system here")
    assert done.returncode == 0, done.stderr
    assert "No space left on device" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_place_is_tried_before_the_search_and_left_as_it_was(tmp_path: Path) -> None:
    expect_writable(tmp_path / "not" / "yet" / "there")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("precious")
    for root in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nowhere")):
        with pytest.raises(TaskError, match="--out"):
            expect_writable(root)
    assert (tmp_path / "file").read_text() == "precious"


def test_an_output_folder_that_is_a_file_is_bad_input(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(TaskError, match="--out"):
        write(draft(), tmp_path / "out")
