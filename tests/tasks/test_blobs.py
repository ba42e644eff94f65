"""Recorded inputs on disk."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from tasks.blobs import NO_RECORDING, MissingBlob, find_blob, missing_blobs
from tasks.errors import TaskError
from tasks.inputs import InputGenerator
from tests.fakes.definitions import definition, recorded, task, workload

POINTERS = definition(
    {"kv_indptr": "int32 m", "x": "float32 n"}, {"m": None, "n": None, "num_kv_indices": None}
)
SIZES = {"m": 3, "n": 2, "num_kv_indices": 5}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "blobs").mkdir()
    tensors = {"ptr": torch.tensor([0, 2, 5], dtype=torch.int32), "wide": torch.zeros(3, dtype=torch.int64)}
    save_file(tensors, tmp_path / "blobs" / "recording.safetensors")
    return tmp_path


def test_a_root_may_stand_anywhere_above_the_file(root: Path) -> None:
    file = root / "blobs" / "recording.safetensors"
    assert find_blob("blobs/recording.safetensors", [root]) == file
    assert find_blob("data/deep/blobs/recording.safetensors", [root]) == file
    assert find_blob("elsewhere/recording.safetensors", ["/nowhere", root / "blobs"]) == file
    assert find_blob("blobs/other.safetensors", [root]) is None
    assert find_blob(str(file), []) == file


def test_a_path_that_climbs_is_never_followed(root: Path) -> None:
    assert find_blob("../blobs/recording.safetensors", [root / "blobs"]) is None


def test_a_recorded_input_is_read_and_stays_the_same(root: Path) -> None:
    generator = InputGenerator(POINTERS, workload(SIZES, kv_indptr=recorded("ptr")), blob_roots=[root])
    assert generator.synthetic == frozenset()
    for values in (generator.make(), generator.make(9), generator.vary(9)):
        assert isinstance(values[0], torch.Tensor)
        assert values[0].tolist() == [0, 2, 5]
        values[0].zero_()


def test_missing_recordings_are_listed_with_workload_and_input(root: Path) -> None:
    asked = task(POINTERS, [SIZES], kv_indptr=recorded("ptr"))
    missing = MissingBlob(workload="w0", input="kv_indptr", path="blobs/recording.safetensors")
    assert missing_blobs(asked) == (missing,)
    assert missing_blobs(asked.model_copy(update={"blob_roots": (str(root),)})) == ()
    shrunk = task(POINTERS, [SIZES], kv_indptr=recorded("ptr", NO_RECORDING))
    assert len(missing_blobs(shrunk.model_copy(update={"blob_roots": (str(root),)}))) == 1


@pytest.mark.parametrize(
    ("key", "sizes", "fault"),
    [
        ("other", {}, r"no tensor 'other', only \['ptr', 'wide'\]"),
        ("ptr", {"m": 4}, r"shape \[3\] is not \[4\]"),
        ("wide", {}, "element type torch.int64 is not torch.int32"),
    ],
)
def test_a_recording_that_does_not_fit_is_named_with_its_file(
    root: Path, key: str, sizes: dict[str, int], fault: str
) -> None:
    with pytest.raises(TaskError, match=fault) as raised:
        InputGenerator(POINTERS, workload({**SIZES, **sizes}, kv_indptr=recorded(key)), blob_roots=[root])
    assert raised.value.field == "kv_indptr"
    assert "recording.safetensors" in str(raised.value)


def test_a_file_that_is_no_safetensors_file_is_said_to_be_unreadable(root: Path) -> None:
    (root / "blobs" / "recording.safetensors").write_bytes(b"not it")
    with pytest.raises(TaskError, match="not a readable safetensors file"):
        InputGenerator(POINTERS, workload(SIZES, kv_indptr=recorded("ptr")), blob_roots=[root])


def test_the_policy_decides_between_recording_and_stand_in(root: Path) -> None:
    asked = workload(SIZES, kv_indptr=recorded("ptr"))
    with pytest.raises(TaskError, match="is not there"):
        InputGenerator(POINTERS, asked, policy="recorded")
    assert InputGenerator(POINTERS, asked, policy="auto").synthetic == {"kv_indptr"}
    assert InputGenerator(POINTERS, asked, blob_roots=[root], policy="auto").synthetic == frozenset()
    assert InputGenerator(POINTERS, asked, blob_roots=[root], policy="synthetic").synthetic == {"kv_indptr"}
