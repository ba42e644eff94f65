"""Snapshots: what they say, and that nobody can change one unnoticed."""

from datetime import date
from pathlib import Path

import pytest

from leaderboard.snapshot import FEWEST_PROCESSES, Snapshot, process_medians, take_snapshot
from leaderboard.snapshot_file import read_snapshot, rebuild, write_snapshot
from submissions.write import write
from tasks.errors import TaskError
from tests.submissions.builders import draft, ready


def test_it_keeps_the_median_of_every_process_and_the_day_it_was_judged() -> None:
    snapshot = take_snapshot(ready())
    assert [len(times.medians_ms) for times in snapshot.times] == [10, 10, 10]
    assert {(times.timer, times.kind) for times in snapshot.times} == {("cupti", "official")}
    assert snapshot.times[1].medians_ms[3] == pytest.approx(0.2 + 0.001 * 9 + 1e-10)
    assert snapshot.taken_on == date(2026, 1, 2)


def test_the_same_submission_gives_the_same_snapshot_and_another_date_another_one() -> None:
    assert take_snapshot(ready()).digest == take_snapshot(ready()).digest
    assert take_snapshot(ready(), taken_on=date(2026, 2, 1)).digest != take_snapshot(ready()).digest


def test_it_survives_the_disk_and_rebuilds_the_candidate_that_was_judged(tmp_path: Path) -> None:
    submission = ready()
    path = write_snapshot(take_snapshot(submission), tmp_path)
    found = read_snapshot(path)
    assert found == take_snapshot(submission)
    assert path.stem == f"001_double_rows-{found.digest[:12]}"
    assert rebuild(found).digest == submission.evidence.candidate.digest
    assert list(tmp_path.iterdir()) == [path]


def test_a_changed_figure_is_noticed(tmp_path: Path) -> None:
    path = write_snapshot(take_snapshot(ready()), tmp_path)
    text = path.read_text()
    assert "0.10900" in text
    path.write_text(text.replace("0.10900", "0.10500", 1))
    with pytest.raises(TaskError, match="was changed after it was taken"):
        read_snapshot(path)


def test_what_is_no_snapshot_is_named_with_its_field(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('{"format": "kernelarc-snapshot-1"}')
    with pytest.raises(TaskError, match="`taken_on`: is no snapshot"):
        read_snapshot(path)


def test_a_ready_submission_with_too_few_processes_makes_none() -> None:
    submission = ready()
    few = tuple(m for m in submission.measurements if m.process < FEWEST_PROCESSES - 1)
    with pytest.raises(TaskError, match="8 processes or more"):
        take_snapshot(submission.model_copy(update={"measurements": few}))


def test_a_draft_may_have_as_few_as_there_are() -> None:
    submission = draft()
    few = tuple(m for m in submission.measurements if m.process < 2)
    snapshot = take_snapshot(submission.model_copy(update={"measurements": few}))
    assert {len(times.medians_ms) for times in snapshot.times} == {2}
    assert {times.timer for times in snapshot.times} == {"wall"}


def test_without_its_solution_it_asks_for_the_submission_and_refuses_another(tmp_path: Path) -> None:
    submission = ready()
    snapshot = take_snapshot(submission, inline=False)
    assert snapshot.solution is None
    with pytest.raises(TaskError, match="--submission"):
        rebuild(snapshot)
    assert rebuild(snapshot, write(submission, tmp_path)).digest == snapshot.candidate.digest
    with pytest.raises(TaskError, match="not the solution of the snapshot"):
        rebuild(snapshot, write(draft(), tmp_path))


def test_a_solution_swapped_inside_a_snapshot_does_not_rebuild() -> None:
    content = take_snapshot(ready()).model_dump(mode="json")
    content["solution"]["sources"][0]["content"] = "def run(x):\n    return x * 2\n"
    with pytest.raises(TaskError, match="not the solution of the snapshot"):
        rebuild(Snapshot.model_validate(content))


def test_times_of_two_timers_are_never_pooled() -> None:
    submission = draft()
    own = [m for m in submission.measurements if m.workload == "w1"]
    mixed = (own[0], own[1].model_copy(update={"timer": "cuda-events"}))
    with pytest.raises(ValueError, match="several timers"):
        process_medians(mixed, "w1")


def test_a_workload_that_was_not_timed_has_no_medians() -> None:
    assert process_medians((), "w1") is None
