"""Hardware files: every shipped one loads, and a broken one is named with its field."""

from pathlib import Path

import pytest
import yaml

from tasks.errors import TaskError
from tasks.gpu import FOLDER, gpu_of_target, known_gpus, load_gpu

TEMPLATE = yaml.safe_load((FOLDER / "H200.yaml").read_text())


def written(folder: Path, **changes: object) -> Path:
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump({**TEMPLATE, **changes}))
    return path


@pytest.mark.parametrize("name", known_gpus())
def test_every_shipped_file_is_a_gpu_with_sources(name: str) -> None:
    gpu = load_gpu(name)
    assert gpu.name == name and gpu.peaks_source and gpu.overhead_source
    named = [gpu.efficiencies.copies, gpu.efficiencies.attention, *gpu.efficiencies.gemm.values()]
    assert all(efficiency.source for efficiency in named)
    assert set(gpu.peaks_tflops) == set(gpu.efficiencies.gemm)
    assert gpu.peak("fp32") < gpu.peak("tf32") < gpu.peak("bf16")


def test_the_four_gpus_are_there() -> None:
    assert set(known_gpus()) >= {"B200", "H200", "H100", "A100"}


def test_units_are_per_millisecond_and_capability_comes_from_the_target() -> None:
    gpu = load_gpu("B200")
    assert gpu.bandwidth == 8e9 and gpu.peak("bf16") == 1.811e12
    assert gpu.capability == (10, 0) and load_gpu("A100").capability == (8, 0)


def test_a_format_that_the_card_lacks_runs_as_a_wider_one() -> None:
    gpu = load_gpu("A100")
    assert "fp8" not in gpu.peaks_tflops
    assert gpu.peak("nvfp4") == gpu.peak("fp8") == gpu.peak("bf16")


def test_the_evaluators_clock_presets_are_kept() -> None:
    presets = {name: load_gpu(name).clocks_mhz for name in ("B200", "H100", "A100", "H200")}
    assert (presets["B200"].locked_sm, presets["B200"].locked_memory) == (1500, 3996)
    assert (presets["H100"].locked_sm, presets["H100"].locked_memory) == (1410, 1593)
    assert (presets["A100"].locked_sm, presets["A100"].locked_memory) == (1065, 1215)
    assert presets["H200"].locked_sm is None


def test_a_target_finds_the_gpu_it_is_compiled_for() -> None:
    assert gpu_of_target("sm_100a").name == "B200"
    assert gpu_of_target("sm_90a").name == "H200"
    with pytest.raises(TaskError, match=r"'sm_70'.*use one of sm_100a, sm_80, sm_90a"):
        gpu_of_target("sm_70")


def test_an_unknown_name_gets_the_nearest_one() -> None:
    with pytest.raises(TaskError, match="'h20'; did you mean H200"):
        load_gpu("h20")


def test_a_file_of_ones_own_is_loaded_by_its_path(tmp_path: Path) -> None:
    assert load_gpu(written(tmp_path, name="Mine", sms=7)).sms == 7


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bandwith": 3}, "bandwith"),
        ({"sms": -1}, "sms"),
        ({"bandwidth_tb_per_s": float("nan")}, "bandwidth_tb_per_s"),
        ({"target": "hopper"}, "target"),
        ({"peaks_tflops": {"bf16": 1}}, "fp32"),
        ({"shared_kib_per_block": 300}, "shared_kib_per_block"),
        (
            {"efficiencies": {**TEMPLATE["efficiencies"], "rows": {"fraction": 1.2, "source": "?"}}},
            "rows.fraction",
        ),
    ],
)
def test_a_file_that_does_not_hold_names_the_field(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    path = written(tmp_path, **changes)
    with pytest.raises(TaskError) as caught:
        load_gpu(path)
    assert said in str(caught.value) and str(path) in str(caught.value) and "H200.yaml" in str(caught.value)


def test_a_file_that_is_not_there_or_no_yaml_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="cannot be read"):
        load_gpu(tmp_path / "none.yaml")
    (tmp_path / "bad.yaml").write_text("{a: [")
    with pytest.raises(TaskError, match=r"`line 1`: is not valid YAML"):
        load_gpu(tmp_path / "bad.yaml")
    (tmp_path / "list.yaml").write_text("- 1")
    with pytest.raises(TaskError, match="dictionary"):
        load_gpu(tmp_path / "list.yaml")
