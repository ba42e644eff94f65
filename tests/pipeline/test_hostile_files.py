"""Places and files that are not what they should be: each is one sentence, and nothing is lost by it."""

import errno
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pipeline.failure import BAD_INPUT, BROKEN, sentence_and_code
from pipeline.journal import Journal
from pipeline.progress import Silent
from pipeline.run_folder import Outcome, Run
from pipeline.runs import go_on
from tasks.errors import TaskError
from tasks.whole_file import write_whole
from tests.fakes import run_search
from tests.fakes.judge import fake_judge
from tests.fakes.task import candidate, doubling_task


def test_a_pipe_is_written_into_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe, heard = tmp_path / "pipe", []
    os.mkfifo(pipe)
    listener = threading.Thread(target=lambda: heard.append(pipe.read_bytes()))
    listener.start()
    write_whole(pipe, b"traces")
    listener.join(10)
    assert heard == [b"traces"]
    assert pipe.is_fifo()


def test_a_device_stays_a_device(tmp_path: Path) -> None:
    """A copy of /dev/null, since the real one is everybody's."""
    device = tmp_path / "null"
    try:
        os.mknod(device, 0o600 | 0o020000, os.makedev(1, 3))
        device.write_bytes(b"")
    except OSError:
        pytest.skip("only root may make a device")
    write_whole(device, b"traces")
    assert device.is_char_device()


def test_a_link_leads_to_what_is_written_and_stays(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_folder_is_no_place_for_a_file(tmp_path: Path) -> None:
    for place in (tmp_path, Path("/"), Path(".")):
        with pytest.raises(IsADirectoryError):
            write_whole(place, b"traces")


def test_a_disk_that_fills_up_leaves_the_old_file_and_no_part_of_the_new(tmp_path: Path) -> None:
    script = (
        'mount -t tmpfs -o size=64k none "$1" || exit 77\n'
        '"$2" -c "import sys, pathlib\nfrom tasks.whole_file import write_whole\n'
        "file = pathlib.Path(sys.argv[1], 'verdict.json')\nwrite_whole(file, b'old')\n"
        "try:\n    write_whole(file, bytes(10 ** 6))\nexcept OSError as error:\n    assert error.errno == 28, error\n"
        "else:\n    sys.exit(5)\n"
        "assert file.read_bytes() == b'old'\nassert [p.name for p in file.parent.iterdir()] == ['verdict.json']\n"
        '" "$1"'
    )
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", str(tmp_path)]
    python = sys.executable
    done = subprocess.run([*command, python], cwd=Path(__file__).parents[2], capture_output=True, text=True)
    if done.returncode == 77:
        pytest.skip("may not mount a file system here")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EROFS, BAD_INPUT),
        (errno.ENAMETOOLONG, BAD_INPUT),
        (errno.ELOOP, BAD_INPUT),
        (errno.EACCES, BAD_INPUT),
        (errno.EIO, BROKEN),
        (errno.ENOSPC, BROKEN),
    ],
)
def test_a_place_that_cannot_be_written_is_bad_input_and_a_failing_disk_is_not(
    number: int, code: int
) -> None:
    sentence, found = sentence_and_code(OSError(number, os.strerror(number), "runs"))
    assert found == code
    assert sentence


@pytest.fixture
def run(tmp_path: Path):
    with Run.create(tmp_path, run_search.header()) as opened:
        yield opened


def test_a_verdict_under_anothers_name_is_refused(run: Run) -> None:
    one, other = candidate("accepted 1"), candidate("accepted 2")
    run.keep_outcome(Outcome(candidate=one, verdict=fake_judge(doubling_task(), one)))
    kept = run.folder / "verdicts" / f"{one.digest}.json"
    kept.rename(kept.with_name(f"{other.digest}.json"))
    with pytest.raises(TaskError, match="is about another candidate"):
        run.outcome(other)
    assert run.outcome(one) is None


def test_a_pipe_among_the_verdicts_is_not_waited_for(run: Run) -> None:
    (run.folder / "verdicts").mkdir()
    os.mkfifo(run.folder / "verdicts" / f"{candidate('accepted 1').digest}.json")
    with pytest.raises(TaskError, match="is no file"):
        run.outcome(candidate("accepted 1"))


@pytest.mark.parametrize("line", [b"[" * 100_000, b"\xff\x00", b"9" * 10_000, b"null", b""])
def test_a_journal_with_a_garbled_line_is_named_by_it(run: Run, line: bytes) -> None:
    journal = run.folder / "journal.jsonl"
    run.journal.close()
    journal.write_bytes(journal.read_bytes() + line + b"\n" + b'{"event": "note"}\n')
    with pytest.raises(TaskError, match="line 2"):
        Journal.open(journal)


def test_a_journal_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "journal.jsonl")
    with pytest.raises(TaskError, match="cannot be read"):
        Journal.open(tmp_path / "journal.jsonl")


def test_a_run_of_an_agent_that_is_no_more_is_bad_input(run: Run) -> None:
    run.journal.close()
    with pytest.raises(TaskError, match="there is no agent 'listed'"), go_on(run.folder, Silent()):
        pass
