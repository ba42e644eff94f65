"""The same task comes out of a folder, a data root and a parquet file."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tasks import load
from tasks.catalogue import DATA_VARIABLE, list_tasks
from tasks.errors import TaskError
from tasks.lint import lint_paths
from tasks.loading import load_entry
from tasks.sources import SOURCES
from tests.fakes import official_files as files

LAYOUTS = ["", "benchmark", "data/benchmark", "data/SOL-ExecBench/benchmark"]


@pytest.fixture(autouse=True)
def no_data_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DATA_VARIABLE, raising=False)


def _row(name: str, **changes: object) -> tuple[dict[str, object], list[dict[str, object]]]:
    return files.definition(name=name, **changes), [files.workload(1), files.workload(2)]


def test_every_source_is_registered_under_its_own_kind() -> None:
    assert {kind: source.kind for kind, source in SOURCES.items()} == {
        kind: kind for kind in ("shipped", "dataset", "parquet", "folder")
    }


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_of_a_data_root_is_found(tmp_path: Path, layout: str) -> None:
    files.write_problem(tmp_path / layout / "L1" / "001_scale_rows")
    files.write_problem(tmp_path / layout / "Quant" / "002_b")
    files.write_problem(tmp_path / layout / "FlashInfer" / "003_c")
    listed = [(e.name, e.subset, e.workloads) for e in list_tasks([tmp_path]) if e.source == "dataset"]
    assert listed == [
        ("L1/001_scale_rows", "L1", 2),
        ("Quant/002_b", "Quant", 2),
        ("FlashInfer-Bench/003_c", "FlashInfer-Bench", 2),
    ]
    task = load("L1/001_scale_rows", data_roots=[tmp_path])
    assert (task.name, task.subset, task.source) == ("L1/001_scale_rows", "L1", "dataset")


def test_a_root_may_be_one_subset_or_a_bare_list_of_problems(tmp_path: Path) -> None:
    files.write_problem(tmp_path / "L2" / "001_scale_rows")
    files.write_problem(tmp_path / "mine" / "my_problem")
    assert load("L2/001_scale_rows", data_roots=[tmp_path / "L2"]).subset == "L2"
    bare = load("my_problem", data_roots=[tmp_path / "mine"])
    assert (bare.name, bare.subset) == ("my_problem", None)


def test_one_task_is_the_same_from_every_source(tmp_path: Path) -> None:
    problem = _row("001_scale_rows")
    files.write_problem(tmp_path / "disk" / "L1" / "001_scale_rows", *problem)
    files.write_parquet(tmp_path / "hub" / "L1" / "train-00000-of-00001.parquet", [_row("000_a"), problem])
    from_folder = load(str(tmp_path / "disk" / "L1" / "001_scale_rows"))
    from_disk = load("001_scale_rows", data_roots=[tmp_path / "disk"])
    from_parquet = load("001_scale_rows", data_roots=[tmp_path / "hub"])
    assert {t.source for t in (from_folder, from_disk, from_parquet)} == {"folder", "dataset", "parquet"}
    op_type = {"op_type": None}  # the table has no such column
    assert from_parquet.workloads == from_disk.workloads == from_folder.workloads
    assert from_parquet.definition == from_disk.definition.model_copy(update=op_type)
    assert from_folder.digest == from_disk.digest and from_folder.subset == "L1"
    assert list(from_parquet.definition.inputs) == ["x", "weight", "eps"]


@pytest.mark.parametrize(
    ("file", "subset"),
    [
        ("data/L1-00000-of-00001.parquet", "L1"),
        ("Quant/train-00000-of-00001.parquet", "Quant"),
        ("FlashInfer-Bench.parquet", "FlashInfer-Bench"),
        ("L2/train.parquet", "L2"),
        ("data/train.parquet", None),
        ("L100.parquet", None),
    ],
)
def test_the_subset_is_read_off_the_parquet_path(tmp_path: Path, file: str, subset: str | None) -> None:
    files.write_parquet(tmp_path / file, [_row("007_x")])
    (entry,) = [e for e in list_tasks([tmp_path]) if e.source == "parquet"]
    assert (entry.subset, entry.workloads) == (subset, 2)
    assert load(entry.name, data_roots=[tmp_path]).subset == subset
    assert [e.name for e in list_tasks([tmp_path / file]) if e.source == "parquet"] == [entry.name]


def test_an_empty_hf_id_of_a_parquet_row_is_survived_and_reported(tmp_path: Path) -> None:
    file = files.write_parquet(tmp_path / "FlashInfer-Bench.parquet", [_row("001_a", hf_id="")])
    task = load("FlashInfer-Bench/001_a", data_roots=[tmp_path])
    assert task.definition.hf_id is None
    (finding,) = task.findings
    assert (finding.code, finding.field) == ("empty-text", "row 0 (001_a): hf_id")
    assert [f.code for f in lint_paths([file])] == ["empty-text"]


def test_what_a_row_lists_too_much_is_survived_and_reported(tmp_path: Path) -> None:
    definition, workloads = _row("001_a")
    workloads[1]["inputs"]["bias1"] = {"type": "random"}  # type: ignore[index]
    workloads[1]["axes"]["extra"] = 3  # type: ignore[index]
    files.write_parquet(tmp_path / "L2.parquet", [(definition, workloads)])
    fields = {f.code: f.field for f in load("L2/001_a", data_roots=[tmp_path]).findings}
    assert fields == {
        "unknown-input": "row 0 (001_a) workload 2: inputs.bias1",
        "unknown-axis": "row 0 (001_a) workload 2: axes.extra",
    }


@pytest.mark.parametrize(
    ("column", "text", "word"),
    [
        ("axes", "{", "not JSON"),
        ("axes", "[]", "axes"),
        ("workloads", "{}", "a list"),
        ("workloads", "[3]", "an object"),
        ("workloads", "[]", "no workload"),
        ("inputs", "[" * 100_000, "too deeply"),
        ("reference", "def run(", "not valid Python"),
        ("workloads", '[{"axes": {}}]', "is missing"),
    ],
)
def test_a_bad_row_is_one_sentence_with_its_place(tmp_path: Path, column: str, text: str, word: str) -> None:
    import pyarrow
    import pyarrow.parquet

    definition, workloads = _row("001_a")
    file = files.write_parquet(tmp_path / "L1.parquet", [(definition, workloads)])
    (row,) = pyarrow.parquet.read_table(file).to_pylist()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([{**row, column: text}]), file)
    with pytest.raises(TaskError, match=word) as caught:
        load("L1/001_a", data_roots=[tmp_path])
    sentence = str(caught.value)
    assert (
        "\n" not in sentence and str(file) in sentence and "row 0 (001_a)" in sentence and caught.value.mend
    )


def test_a_file_that_is_no_table_and_a_table_without_its_columns_are_named(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    (tmp_path / "L1.parquet").write_bytes(b"no table")
    with pytest.raises(TaskError, match="no readable parquet"):
        list_tasks([tmp_path])
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([{"name": "a"}]), tmp_path / "L1.parquet")
    with pytest.raises(TaskError, match="column workloads"):
        list_tasks([tmp_path / "L1.parquet"])
    assert list_tasks([tmp_path]) == list_tasks()  # in a folder it may be a table of something else


def test_a_task_in_a_folder_is_found_beside_a_broken_table(tmp_path: Path) -> None:
    files.write_problem(tmp_path / "L1" / "001_scale_rows")
    (tmp_path / "L2.parquet").write_bytes(b"no table")
    assert load("L1/001_scale_rows", data_roots=[tmp_path]).source == "dataset"


def test_without_pyarrow_the_extra_that_brings_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files.write_parquet(tmp_path / "L1.parquet", [_row("001_a")])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(TaskError, match=r"EXTRAS=.*data"):
        list_tasks([tmp_path])


def test_shipped_tasks_are_found_by_alias_and_are_valid(tmp_path: Path) -> None:
    shipped = [entry for entry in list_tasks() if entry.source == "shipped"]
    assert shipped, "no task is shipped"
    for entry in shipped:
        task = load(entry.name)
        assert (task.name, task.subset) == (entry.name, entry.subset)
        assert len(task.workloads) == entry.workloads
        assert not [f for f in task.findings if f.level == "error"]


def test_a_shipped_task_survives_the_way_through_parquet(tmp_path: Path) -> None:
    task = load(next(entry.name for entry in list_tasks() if entry.source == "shipped"))
    definition = task.definition.model_dump(mode="json")
    workloads = [workload.model_dump(mode="json") for workload in task.workloads]
    files.write_parquet(tmp_path / "L1.parquet", [(definition, workloads)])
    entry = next(e for e in list_tasks([tmp_path]) if e.source == "parquet")
    again = load_entry(entry)  # by its name the shipped task itself would be found
    assert again.workloads == task.workloads
    assert again.definition == task.definition.model_copy(update={"op_type": None})


def test_listing_reads_no_definition(tmp_path: Path) -> None:
    folder = files.write_problem(tmp_path / "L1" / "001_broken")
    (folder / "definition.json").write_text("{")
    assert "L1/001_broken" in [entry.name for entry in list_tasks([tmp_path])]


def test_reading_tasks_imports_neither_torch_nor_numpy(tmp_path: Path) -> None:
    folder = files.write_problem(tmp_path / "p")
    program = (
        "import json, sys; from pathlib import Path; from tasks import load; from tasks.catalogue import list_tasks;"
        f"from tasks.lint import lint_paths; load({str(folder)!r}); list_tasks(); lint_paths([Path({str(folder)!r})]);"
        "print(json.dumps([m for m in ('torch', 'numpy', 'scipy', 'optuna', 'pyarrow') if m in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
