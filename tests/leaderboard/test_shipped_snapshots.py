"""The snapshots that come with the project: whole, about tasks as they are today, and of kernels that can be rebuilt."""

import json
from pathlib import Path

import pytest

from leaderboard.frozen.candidate import frozen_candidate
from leaderboard.frozen.kernel import frozen_kernels, sentinel_task
from leaderboard.snapshot_file import read_snapshot, rebuild
from tasks import load

ROOT = Path(__file__).parents[2]
SNAPSHOTS = sorted((ROOT / "leaderboard" / "snapshots").glob("*.json"))
RECORD = ROOT / "docs" / "results" / "leaderboard-h200.json"


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.name)
def test_a_shipped_snapshot_can_be_judged_again(path: Path) -> None:
    snapshot = read_snapshot(path)
    task = sentinel_task(snapshot.task.name) or load(snapshot.task.name)
    assert task.definition.digest == snapshot.task.definition_digest
    assert {w.uuid for w in task.workloads} == {t.uuid for t in snapshot.times}
    candidate = rebuild(snapshot)
    assert candidate.digest == snapshot.candidate.digest
    if sentinel_task(snapshot.task.name) is not None:
        kept = {frozen_candidate(k, task).digest for k in frozen_kernels() if k.name == snapshot.task.name}
        assert candidate.digest in kept


def test_what_the_record_of_the_bars_took_is_shipped() -> None:
    if not RECORD.exists():
        pytest.skip("the bars were not taken on a GPU yet")
    files = {row["file"] for row in json.loads(RECORD.read_text())["rows"] if "file" in row}
    assert files <= {path.name for path in SNAPSHOTS}
