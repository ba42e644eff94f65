"""pytest-benchmark's files, written and read: its own compare command takes ours, and ours come back as sessions."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from leaderboard.benchmark_json import benchmark_json
from leaderboard.benchmark_sessions import sessions_in
from leaderboard.snapshot import Snapshot
from leaderboard.snapshot_file import write_snapshot
from pipeline.cli import main
from tasks.errors import TaskError
from tests.leaderboard.snapshots import H200, a_problem, snapshot_of, verdict_on


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    task, judged = a_problem(3)
    return snapshot_of(task, judged, verdict_on(task, judged, seed=1))


def written(snapshot: Snapshot, path: Path, day: int, driver: str = "580.10", slower: float = 1.0) -> Path:
    times = tuple(
        t.model_copy(update={"medians_ms": tuple(m * slower * (1 + 1e-4 * (day % 3)) for m in t.medians_ms)})
        for t in snapshot.times
    )
    environment = H200.model_copy(update={"driver": driver})
    content = benchmark_json({snapshot.name: times}, environment, f"2026-08-{day:02d}T12:00:00+00:00")
    path.write_text(json.dumps(content))
    return path


def test_what_is_written_comes_back_as_the_same_session(snapshot: Snapshot, tmp_path: Path) -> None:
    found = sessions_in(written(snapshot, tmp_path / "a.json", 1), {snapshot.name: snapshot.digest})
    (session,) = found.sessions
    assert (session.snapshot, found.strangers) == (snapshot.digest, ())
    assert session.environment.uuid == "GPU-1" and session.environment.driver == "580.10"
    assert session.environment.libraries == H200.libraries and session.environment.clocks == H200.clocks
    for times in snapshot.times:
        middle = sorted(times.medians_ms)[4:6]
        assert session.medians_ms[times.uuid] == pytest.approx(sum(middle) / 2 * (1 + 1e-4))


def test_pytest_benchmark_compares_two_of_them(snapshot: Snapshot, tmp_path: Path) -> None:
    files = [written(snapshot, tmp_path / f"{day}.json", day) for day in (1, 2)]
    command = [sys.executable, "-m", "pytest_benchmark", "compare", *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert all(f"{snapshot.name}[{t.uuid}]" in done.stdout for t in snapshot.times)


def test_files_of_another_day_join_the_series_and_say_slower(snapshot: Snapshot, tmp_path: Path) -> None:
    path = write_snapshot(snapshot, tmp_path / "snapshots")
    old = [written(snapshot, tmp_path / f"{day}.json", day) for day in range(1, 9)]
    new = [written(snapshot, tmp_path / f"{day}.json", day, "590.1", 1.02) for day in (10, 11, 12)]

    def join(*files: Path) -> tuple[int, list[dict[str, object]]]:
        command = ["regress", str(path), "--sessions", str(tmp_path / "s"), "--json"]
        done = CliRunner().invoke(
            main, [*command, *(part for file in files for part in ("--import", str(file)))]
        )
        return done.exit_code, json.loads(done.stdout)

    code, said = join(*old)
    assert code == 0 and said[0]["slower"] is None
    code, said = join(*new)
    assert code == 1 and said[0]["slower"] is True and said[0]["old_sessions"] == 8
    assert join(*new)[1] == said  # the same files again add nothing
    assert len(list((tmp_path / "s").rglob("*.json"))) == 11


def test_a_step_is_found_once_there_are_24_points(snapshot: Snapshot, tmp_path: Path) -> None:
    path = write_snapshot(snapshot, tmp_path / "snapshots")
    files = [
        written(snapshot, tmp_path / f"{d}.json", d, slower=1.03 if d > 13 else 1.0) for d in range(1, 25)
    ]
    steps = []
    for count in (23, 24):
        command = ["regress", str(path), "--sessions", str(tmp_path / f"s{count}"), "--json"]
        some = [part for file in files[:count] for part in ("--import", str(file))]
        steps.append(json.loads(CliRunner().invoke(main, [*command, *some]).stdout)[0]["steps"])
    assert steps[0] is None
    assert len(steps[1]) == 1 and steps[1][0]["ratio"] == pytest.approx(1.03, abs=0.002)
    assert steps[1][0]["session"].startswith("2026-08-14")


def test_a_stranger_is_named_and_another_file_is_bad_input(snapshot: Snapshot, tmp_path: Path) -> None:
    assert sessions_in(written(snapshot, tmp_path / "a.json", 1), {}).strangers == (snapshot.name,)
    for text in (
        "{}",
        "[]",
        '{"benchmarks": [], "machine_info": {}}',
        '{"benchmarks": 3, "datetime": "x", "machine_info": {}}',
    ):
        (tmp_path / "b.json").write_text(text)
        with pytest.raises(TaskError):
            sessions_in(tmp_path / "b.json", {})
