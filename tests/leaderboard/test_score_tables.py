"""Tables of T_SOL and T_b."""

import json
import os
from datetime import date
from pathlib import Path

import pytest

from leaderboard.tables import (
    Provenance,
    TimeTable,
    bounds_for,
    merge_tables,
    read_published,
    read_table,
    write_table,
)
from tasks.definition import Definition
from tasks.errors import TaskError
from tasks.task import Task
from tasks.workload import RandomInput, Workload

TODAY = date(2026, 8, 1)


def task(*rows: int) -> Task:
    definition = Definition.model_validate(
        {
            "name": "double",
            "axes": {"n": {"type": "var"}, "k": {"type": "const", "value": 4}},
            "inputs": {"x": {"shape": ["n", "k"], "dtype": "float32"}},
            "outputs": {"y": {"shape": ["n", "k"], "dtype": "float32"}},
            "reference": "def run(x):\n    return x * 2\n",
        }
    )
    workloads = tuple(
        Workload(axes={"n": n}, inputs={"x": RandomInput()}, uuid=f"u{i}") for i, n in enumerate(rows)
    )
    return Task(name="double", definition=definition, workloads=workloads)


def published(tmp_path: Path, *entries: tuple[int, float, float], key: str = "b200_v11") -> Path:
    path = tmp_path / "published.json"
    rows = [{"axes": {"k": 4, "n": n}, "t_sol_ms": sol, "t_b_ms": b} for n, sol, b in entries]
    path.write_text(json.dumps({"kernel_id": 1, "subset": "L1", "name": "double", key: rows}))
    return path


def table(quantity: str = "t_sol", **changes: object) -> TimeTable:
    provenance = {"source": "here", "retrieved": TODAY, "revision": "v1.1", "hardware": "B200", **changes}
    return TimeTable.model_validate(
        {"quantity": quantity, "provenance": provenance, "times_ms": {"double": {"u0": 1.0, "u1": 2.0}}}
    )


def test_a_table_survives_the_disk_with_its_provenance(tmp_path: Path) -> None:
    path = tmp_path / "tables" / "t_sol.json"
    write_table(table(), path)
    assert read_table(path) == table()
    assert read_table(path).digest == table().digest
    assert [p.name for p in path.parent.iterdir()] == ["t_sol.json"]


def test_published_times_are_laid_on_workloads_by_their_axes(tmp_path: Path) -> None:
    path = published(tmp_path, (64, 0.2, 0.9), (8, 0.1, 0.5))
    times = read_published(path, task(8, 64), TODAY)
    assert times.t_sol.times_ms == {"double": {"u0": 0.1, "u1": 0.2}}
    assert times.t_b.times_ms == {"double": {"u0": 0.5, "u1": 0.9}}
    assert times.t_b.provenance == Provenance(
        source="published.json", retrieved=TODAY, revision="v1.1", hardware="B200"
    )


def test_workloads_of_equal_axes_are_taken_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = published(tmp_path, (8, 0.1, 0.5), (8, 0.1, 0.6))
    assert read_published(path, task(8, 8), TODAY).t_b.times_ms["double"] == {"u0": 0.5, "u1": 0.6}


def test_a_workload_without_an_entry_is_named(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"published.json `b200_v11`: has no entry for workload u1.*'n': 16"):
        read_published(published(tmp_path, (8, 0.1, 0.5)), task(8, 16), TODAY)


def test_the_newest_revision_is_read_and_another_device_is_refused(tmp_path: Path) -> None:
    path = published(tmp_path, (8, 0.1, 0.5), key="b200_v12")
    content = json.loads(path.read_text())
    content["b200_v11"] = [{"axes": {"n": 8}, "t_sol_ms": 9.0, "t_b_ms": 9.0}]
    path.write_text(json.dumps(content))
    assert read_published(path, task(8), TODAY).t_sol.provenance.revision == "v1.2"
    with pytest.raises(TaskError, match="no times for H200"):
        read_published(path, task(8), TODAY, hardware="H200")


@pytest.mark.parametrize("text", ["{", "[]", '{"b200_v11": [{"axes": {}}]}', '{"b200_v11": 3}'])
def test_a_published_file_that_is_none_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "published.json"
    path.write_text(text)
    with pytest.raises(TaskError, match=r"published\.json"):
        read_published(path, task(8), TODAY)


def test_a_table_file_with_a_time_of_zero_says_where(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    content = table().model_dump(mode="json")
    content["times_ms"]["double"]["u1"] = 0.0
    path.write_text(json.dumps(content))
    with pytest.raises(TaskError, match=r"t\.json `times_ms\.double\.u1`: .*greater than 0"):
        read_table(path)


def test_a_missing_table_is_a_sentence_and_no_traceback(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="does not exist"):
        read_table(tmp_path / "absent.json")


def test_two_tables_make_the_bounds_of_a_problem() -> None:
    bounds = bounds_for("double", table("t_sol"), table("t_b"))
    assert {uuid: (b.t_sol_ms, b.t_b_ms) for uuid, b in bounds.items()} == {
        "u0": (1.0, 1.0),
        "u1": (2.0, 2.0),
    }


def test_tables_that_do_not_go_together_make_no_bounds() -> None:
    with pytest.raises(TaskError, match="not of t_b"):
        bounds_for("double", table("t_sol"), table("t_sol"))
    with pytest.raises(TaskError, match="H200"):
        bounds_for("double", table("t_sol"), table("t_b", hardware="H200"))
    with pytest.raises(TaskError, match="in neither table"):
        bounds_for("other", table("t_sol"), table("t_b"))
    fewer = table("t_b").model_copy(update={"times_ms": {"double": {"u0": 1.0}}})
    with pytest.raises(TaskError, match="u1 is in one table only"):
        bounds_for("double", table("t_sol"), fewer)


def test_tables_of_one_kind_are_merged_and_others_are_not() -> None:
    other = table().model_copy(update={"times_ms": {"triple": {"v0": 3.0}}})
    assert set(merge_tables((table(), other)).times_ms) == {"double", "triple"}
    with pytest.raises(TaskError, match=r"v1\.0"):
        merge_tables((table(), table(revision="v1.0")))


def test_every_problem_at_hand_finds_its_published_times() -> None:
    """Only where the data set is; reads names, axes and times, keeps nothing."""
    root = os.environ.get("SOL_EXECBENCH_DATA")
    if not root:
        pytest.skip("SOL_EXECBENCH_DATA is not set")
    files = sorted(Path(root).glob("*/*/published.json"))
    assert files
    for path in files:
        lines = [json.loads(line) for line in (path.parent / "workload.jsonl").read_text().splitlines()]
        shell = task(1).model_copy(
            update={
                "workloads": tuple(
                    Workload(axes=line["axes"], inputs={}, uuid=line["uuid"]) for line in lines
                )
            }
        )
        times = read_published(path, shell, TODAY)
        assert len(bounds_for("double", times.t_sol, times.t_b)) == len(lines)
