"""What a name means, and what is said when it means nothing."""

from pathlib import Path

import pytest

from tasks.catalogue import BLOB_VARIABLE, DATA_VARIABLE, blob_roots, find_task, list_tasks
from tasks.errors import TaskError
from tasks.loading import load
from tests.fakes import official_files as files


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    monkeypatch.delenv(BLOB_VARIABLE, raising=False)
    for subset, name in [
        ("L1", "001_norm"),
        ("L1", "002_block"),
        ("L2", "002_block"),
        ("Quant", "005_linear"),
    ]:
        files.write_problem(tmp_path / "root" / subset / name, files.definition(name=name))
    return tmp_path / "root"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("L1/001_norm", "L1/001_norm"),
        ("001_norm", "L1/001_norm"),
        ("Quant/005_linear", "Quant/005_linear"),
        ("Quantization/005_linear", "Quant/005_linear"),
        ("quantization/005_linear", "Quant/005_linear"),
        ("l2/002_block", "L2/002_block"),
        ("l2_decoder", "l2_decoder"),
        ("L2/l2_decoder", "l2_decoder"),
        ("Quantization/quant_fp8_linear", "quant_fp8_linear"),
    ],
)
def test_every_way_to_write_a_name_is_understood(root: Path, name: str, found: str) -> None:
    assert find_task(name, [root]).name == found


def test_a_name_in_two_subsets_is_refused_with_both(root: Path) -> None:
    with pytest.raises(TaskError, match="several subsets") as caught:
        find_task("002_block", [root])
    assert "L1/002_block, L2/002_block" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("l2_decodr", "l2_decoder"), ("L1/001_nrm", "L1/001_norm"), ("005_liner", "Quant/005_linear")],
)
def test_an_unknown_name_lists_the_nearest(root: Path, name: str, nearest: str) -> None:
    with pytest.raises(TaskError, match="there is no task") as caught:
        find_task(name, [root])
    assert nearest in caught.value.mend


def test_without_data_an_official_name_says_how_to_give_it(root: Path) -> None:
    with pytest.raises(TaskError, match=r"need --data or \$SOL_EXECBENCH_DATA"):
        find_task("L1/001_norm")


def test_a_path_is_a_task_whatever_it_is_called(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = root / "L1" / "001_norm"
    assert find_task(str(folder)).location == str(folder)
    assert find_task(str(folder / "definition.json")).location == str(folder)
    monkeypatch.chdir(root)
    assert find_task("./L1/001_norm").source == "folder"
    assert find_task("L1/001_norm").source == "folder"
    assert load("L1/001_norm").subset == "L1"


def test_a_folder_without_a_definition_is_one_sentence(root: Path) -> None:
    with pytest.raises(TaskError, match=r"holds no definition\.json"):
        find_task(str(root))


def test_the_environment_names_roots_when_the_caller_names_none(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = files.write_problem(tmp_path / "other" / "L1" / "009_other", files.definition(name="009_other"))
    monkeypatch.setenv(DATA_VARIABLE, f"{root}:{tmp_path / 'other'}")
    assert load("009_other").definition.name == "009_other"
    assert find_task("009_other").location == str(other)
    with pytest.raises(TaskError):
        find_task("009_other", [root])  # the caller's roots replace the environment's


def test_a_root_that_does_not_exist_is_named_with_where_it_came_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(TaskError, match="--data"):
        list_tasks([tmp_path / "gone"])
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "gone"))
    with pytest.raises(TaskError, match=r"\$SOL_EXECBENCH_DATA"):
        list_tasks()
    assert load("l2_decoder").name == "l2_decoder"  # which needs no data


def test_what_two_roots_hold_is_listed_once_from_the_first(root: Path, tmp_path: Path) -> None:
    second = files.write_problem(tmp_path / "second" / "L1" / "001_norm").parent.parent
    listed = [entry for entry in list_tasks([root, second]) if entry.name == "L1/001_norm"]
    assert [entry.root for entry in listed] == [str(root)]


def test_the_list_stands_in_a_fixed_order_shipped_first(root: Path) -> None:
    entries = list_tasks([root])
    assert [e.name for e in entries if e.source != "shipped"] == [
        "L1/001_norm", "L1/002_block", "L2/002_block", "Quant/005_linear",
    ]  # fmt: skip
    assert entries[0].source == "shipped"


def test_blobs_are_looked_for_beside_the_task_under_the_roots_and_where_the_variable_says(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(BLOB_VARIABLE, "/some/trace")
    parquet = root / "L1.parquet"
    parquet.touch()
    assert blob_roots(root / "p", [root, parquet]) == (str(root / "p"), str(root), "/some/trace")
    assert load("L1/001_norm", data_roots=[root]).blob_roots[1:] == (str(root), "/some/trace")


def test_a_recorded_input_is_found_under_the_variable(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = files.workload()
    line["inputs"]["x"] = {"type": "safetensors", "path": "data/trace/blob/a.safetensors", "tensor_key": "x"}
    files.write_problem(root / "L1" / "003_blob", None, [line])
    assert [f.code for f in load("003_blob", data_roots=[root]).findings] == ["missing-blob"]
    (tmp_path / "trace" / "blob").mkdir(parents=True)
    (tmp_path / "trace" / "blob" / "a.safetensors").touch()
    monkeypatch.setenv(BLOB_VARIABLE, str(tmp_path / "trace"))
    assert load("003_blob", data_roots=[root]).findings == ()
