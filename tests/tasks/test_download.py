"""Downloading is pinned, recorded and resumable; what is there can be checked against the record."""

import errno
import json
import shutil
import sys
from pathlib import Path

import pytest

from tasks import load
from tasks.download import DATA_SET, RECORDED_INPUTS, check_data, download
from tasks.download_record import RECORD, read_record
from tasks.errors import TaskError
from tasks.hub import HuggingFaceHub
from tests.fakes import official_files as files
from tests.fakes.hub import FakeHub

BLOBS = ["blob/workloads/a/one.safetensors", "blob/workloads/a/two.safetensors"]


@pytest.fixture
def hub(tmp_path: Path) -> FakeHub:
    """Four subsets, two recorded inputs that are on the hub and one that is not."""

    def table(name: str, *lines: dict[str, object]) -> bytes:
        problem = (files.definition(name=name), list(lines) or [files.workload()])
        return files.write_parquet(tmp_path / "made.parquet", [problem]).read_bytes()

    recorded = [f"data/flashinfer-trace/{path}" for path in (*BLOBS, "blob/gone.safetensors")]
    lines = [files.workload(n) for n in (1, 2, 3)]
    for line, path in zip(lines, recorded, strict=True):
        line["inputs"]["x"] = {"type": "safetensors", "path": path, "tensor_key": "x"}
    data = {
        "README.md": b"about",
        "L1/train-00000-of-00001.parquet": table("001_a"),
        "L2/train-00000-of-00001.parquet": table("001_b"),
        "Quant/train-00000-of-00001.parquet": table("001_c"),
        "FlashInfer-Bench/train-00000-of-00001.parquet": table("001_d", *lines),
    }
    newer = {**data, "L1/train-00000-of-00001.parquet": table("001_a_mended")}
    trace = {path: path.encode() for path in (*BLOBS, "blob/workloads/b/other.safetensors")}
    return FakeHub(
        {DATA_SET: {"c1": data, "c2": newer}, RECORDED_INPUTS: {"t1": trace}}, {"main": "c1", "1.0": "t1"}
    )


def test_everything_asked_for_arrives_and_loads(tmp_path: Path, hub: FakeHub) -> None:
    root = tmp_path / "data"
    said: list[str] = []
    record = download(root, hub=hub, progress=said.append)
    assert sorted(hub.fetched) == sorted(
        [*BLOBS, *(f"{s}/train-00000-of-00001.parquet" for s in ("L1", "L2", "Quant", "FlashInfer-Bench"))]
    )
    assert said[0].startswith("[1/4] ") and said[-1] == f"[2/2] {BLOBS[1]}"
    assert record.missing == ("data/flashinfer-trace/blob/gone.safetensors",)
    task = load("FlashInfer-Bench/001_d", data_roots=[root])
    assert [f.field for f in task.findings if f.code == "missing-blob"] == [
        "row 0 (001_d) workload 3: inputs.x.path"
    ]
    assert load("001_b", data_roots=[root]).subset == "L2"


def test_the_commit_is_recorded_and_kept_when_the_branch_moves_on(tmp_path: Path, hub: FakeHub) -> None:
    download(tmp_path / "data", subsets=["L1"], hub=hub)
    hub.names["main"] = "c2"
    record = download(tmp_path / "data", subsets=["L1", "L2"], hub=hub)
    assert record.revision_of(DATA_SET) == "c1"
    assert load("001_a", data_roots=[tmp_path / "data"]).definition.name == "001_a"
    written = json.loads((tmp_path / "data" / RECORD).read_text())
    assert written["repositories"][0]["revision"] == "c1"
    assert {f["path"].split("/")[1] for f in written["files"]} == {"L1", "L2"}


def test_a_revision_that_is_asked_for_moves_the_data_there(tmp_path: Path, hub: FakeHub) -> None:
    root = tmp_path / "data"
    download(root, subsets=["L1", "L2"], hub=hub)
    record = download(root, subsets=["L1"], revision="c2", hub=hub)
    assert record.revision_of(DATA_SET) == "c2"
    assert load("001_a_mended", data_roots=[root])
    assert [(f.level, f.code, Path(f.file).parent.name) for f in check_data(root)] == [
        ("warning", "mixed-revisions", "L2")
    ]
    download(root, subsets=["L2"], hub=hub)
    assert check_data(root) == ()


def test_nothing_is_fetched_twice(tmp_path: Path, hub: FakeHub) -> None:
    first = download(tmp_path / "data", hub=hub)
    hub.fetched.clear()
    assert download(tmp_path / "data", hub=hub) == first
    assert hub.fetched == []


@pytest.mark.parametrize("after", range(6))
def test_an_interrupted_download_goes_on_where_it_stopped(tmp_path: Path, hub: FakeHub, after: int) -> None:
    root = tmp_path / "data"
    hub.fails_after = after
    with pytest.raises(TaskError, match="network is gone"):
        download(root, hub=hub)
    record = read_record(root)
    assert record is not None and len(record.files) == after
    hub.fails_after = None
    download(root, hub=hub)
    assert len(hub.fetched) == len(set(hub.fetched)) == 6
    assert [f.code for f in check_data(root)] == ["missing-blob"]


def test_without_blobs_only_tables_are_fetched(tmp_path: Path, hub: FakeHub) -> None:
    record = download(tmp_path / "data", blobs=False, hub=hub)
    assert [r.repository for r in record.repositories] == [DATA_SET]
    assert not [path for path in hub.fetched if path.endswith(".safetensors")]


def test_a_file_that_arrives_damaged_is_refused_and_removed(tmp_path: Path, hub: FakeHub) -> None:
    hub.damages = "L1/train-00000-of-00001.parquet"
    with pytest.raises(TaskError, match="arrived damaged"):
        download(tmp_path / "data", subsets=["L1"], hub=hub)
    assert not list((tmp_path / "data").rglob("*.parquet"))
    hub.damages = ""
    download(tmp_path / "data", subsets=["L1"], hub=hub)
    assert check_data(tmp_path / "data") == ()


def test_a_path_that_climbs_out_of_the_root_is_refused(tmp_path: Path) -> None:
    hub = FakeHub(
        {DATA_SET: {"c": {"L1/../../../evil.parquet": b"x", "L1/../../L1.parquet": b"x"}}}, {"main": "c"}
    )
    with pytest.raises(TaskError, match="climbs out"):
        download(tmp_path / "data" / "deep", subsets=["L1"], hub=hub)
    assert hub.fetched == []


def test_a_revision_without_the_subset_is_one_sentence(tmp_path: Path) -> None:
    hub = FakeHub({DATA_SET: {"c": {"README.md": b"x"}}}, {"main": "c"})
    with pytest.raises(TaskError, match="holds no parquet file of L1"):
        download(tmp_path, subsets=["L1"], hub=hub)


def test_too_little_room_is_said_before_anything_is_fetched(
    tmp_path: Path, hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=10))
    with pytest.raises(OSError) as caught:
        download(tmp_path / "data", hub=hub)
    assert caught.value.errno == errno.ENOSPC and hub.fetched == []


def test_what_changed_since_is_found_by_the_check_and_mended_by_another_download(
    tmp_path: Path, hub: FakeHub
) -> None:
    root = tmp_path / "data"
    download(root, subsets=["L1", "L2", "Quant"], hub=hub)
    assert check_data(root) == ()
    tables = {p.parent.name: p for p in root.rglob("*.parquet")}
    tables["L1"].unlink()
    tables["L2"].write_bytes(b"short")
    content = tables["Quant"].read_bytes()
    tables["Quant"].write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    (root / "mine.parquet").write_bytes(b"")
    found = [(f.level, f.code) for f in check_data(root)]
    assert found == [
        ("error", "missing-file"), ("error", "wrong-size"), ("error", "wrong-content"), ("note", "unrecorded"),
    ]  # fmt: skip
    download(root, subsets=["L1", "L2", "Quant"], hub=hub)
    assert [f.code for f in check_data(root)] == ["unrecorded"]


def test_a_root_without_or_with_a_broken_record_is_said_to_be_so(tmp_path: Path) -> None:
    assert [f.code for f in check_data(tmp_path)] == ["no-record"]
    (tmp_path / RECORD).write_text("{}x")
    with pytest.raises(TaskError, match="no record of a download"):
        check_data(tmp_path)


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(TaskError, match=r"EXTRAS=.*data"):
        download(tmp_path, hub=HuggingFaceHub())


def test_the_real_hub_turns_its_librarys_faults_into_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")

    def gone(*_: object, **__: object) -> None:
        raise OSError("no route to host\nand more lines")

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "disk is full")

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", gone)
    with pytest.raises(TaskError, match="cannot be fetched: no route to host; check the network"):
        HuggingFaceHub().snapshot(DATA_SET, "main")
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", full)
    with pytest.raises(OSError, match="disk is full"):
        HuggingFaceHub().fetch(DATA_SET, "main", "a", tmp_path)


def test_the_real_hub_reads_commit_sizes_and_digests(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    huggingface_hub = pytest.importorskip("huggingface_hub")
    from huggingface_hub.hf_api import DatasetInfo

    answer = DatasetInfo(
        id=DATA_SET,
        sha="c0ffee",
        siblings=[
            {"rfilename": "README.md", "size": 3},
            {"rfilename": "L1.parquet", "size": 9, "lfs": {"size": 9, "sha256": "ab", "pointerSize": 1}},
        ],
    )
    asked: dict[str, object] = {}

    def info(_: object, repository: str, **options: object) -> DatasetInfo:
        asked.update(options, repository=repository)
        return answer

    def fetch(repository: str, path: str, **options: object) -> str:
        asked.update(options, repository=repository, path=path)
        return str(tmp_path / path)

    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", info)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", fetch)
    snapshot = HuggingFaceHub().snapshot(DATA_SET, "main")
    assert snapshot.revision == "c0ffee" and asked["files_metadata"] is True
    assert [(f.path, f.size, f.sha256) for f in snapshot.files] == [
        ("README.md", 3, None),
        ("L1.parquet", 9, "ab"),
    ]
    assert HuggingFaceHub().fetch(DATA_SET, "c0ffee", "L1.parquet", tmp_path) == tmp_path / "L1.parquet"
    assert (asked["revision"], asked["repo_type"], asked["local_dir"]) == ("c0ffee", "dataset", tmp_path)
