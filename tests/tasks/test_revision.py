"""The data set's revision is read from where the task came from, and never guessed."""

from pathlib import Path

import pytest

from tasks import load
from tasks.download import DATA_SET
from tasks.download_record import DownloadRecord, RepositoryRecord, write_record
from tasks.revision import dataset_revision
from tasks.task import Task
from tests.fakes import official_files as files

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def _task(root: Path) -> Task:
    files.write_problem(root / "L1" / "001_norm", files.definition())
    return load("L1/001_norm", data_roots=[root])


@pytest.mark.parametrize("recorded_in", [".", ".."])
def test_a_downloaded_task_has_the_revision_of_the_record(tmp_path: Path, recorded_in: str) -> None:
    root = tmp_path / "SOL-ExecBench"
    task = _task(root)
    assert dataset_revision(task) is None
    pinned = RepositoryRecord(repository=DATA_SET, folder=".", revision=COMMIT, asked="main")
    write_record(root / recorded_in, DownloadRecord(repositories=(pinned,)))
    assert dataset_revision(task) == COMMIT


def test_the_hubs_own_folder_names_the_commit(tmp_path: Path) -> None:
    assert dataset_revision(_task(tmp_path / "snapshots" / COMMIT)) == COMMIT


def test_a_shipped_task_is_of_no_revision() -> None:
    assert dataset_revision(load("l1_rmsnorm")) is None
