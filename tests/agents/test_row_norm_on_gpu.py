"""Row-wise norms for real GPUs: they compile for Hopper and Blackwell here, and run where there is one."""

import os
import random
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

from agents.templates.base import Knobs
from agents.templates.row_norm import RowNorm, RowNormFamily
from agents.templates.row_norm.knobs import tiling
from tasks.loading import load
from tasks.solution import Hardware
from tasks.task import Task
from tests.agents.small import draw, expected, imported
from tests.agents.test_row_norm import TASKS, assert_close, poisoned, some_knobs, written

FAMILY = RowNormFamily()
POINTERS = ("x", "added", "weight", "bias", "normed", "total")
TYPES = {
    **dict.fromkeys(POINTERS, "*bf16"),
    "count": "i32",
    "x_stride": "i32",
    "added_stride": "i32",
    "eps": "fp32",
}


def settings(norm: RowNorm, count: int) -> list[Knobs]:
    every = list(FAMILY.knobs(norm).settings())
    return [*FAMILY.knobs(norm).start, *random.Random(2).sample(every, count)]


def compiled(task: Task, norm: RowNorm, knobs: Knobs, capability: int, folder: Path) -> Any:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    module = imported(FAMILY.render(norm, knobs).candidate(task, "template", Hardware.B200), folder)
    names = module.row_norm.arg_names
    aligned = [i for i, name in enumerate(names) if name in POINTERS or name.endswith("stride")]
    tile = tiling(knobs, norm.longest)
    source = ASTSource(
        fn=module.row_norm,
        signature={name: TYPES.get(name, "constexpr") for name in names},
        constexprs={"hidden": norm.longest, "rows": tile.rows, "block": tile.block, "stages": module.STAGES},
        attrs={(i,): [["tt.divisibility", 16]] for i in aligned},
    )
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": tile.warps})


def bytes_spilled(cubin: bytes, folder: Path) -> int:
    """Of local memory a thread, as `cuobjdump` of the Triton wheel reports it."""
    import triton

    path = folder / "kernel.cubin"
    path.write_bytes(cubin)
    tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    said = subprocess.run([tool, "-res-usage", path], capture_output=True, text=True, check=True).stdout
    return int(said.split("STACK:")[1].split()[0])


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") == "1", reason="the interpreter does not compile")
@pytest.mark.parametrize("capability", [90, 100])
@pytest.mark.parametrize("name", ["l1_rmsnorm", "fi_fused_add_rmsnorm"])
def test_kernels_compile_with_wide_loads_and_hardly_spill(
    name: str, capability: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    task = load(name)
    norm = FAMILY.matches(task)
    assert norm is not None
    for knobs in settings(norm, 3):
        kernel = compiled(task, norm, knobs, capability, tmp_path)
        # ptxas spills a few words of tiles in stages; the settings that are tried first do without
        limit = 0 if knobs in FAMILY.knobs(norm).start else 64
        assert bytes_spilled(kernel.asm["cubin"], tmp_path) <= limit, knobs
        assert "v4.b32" in kernel.asm["ptx"] or "v2.b32" in kernel.asm["ptx"], knobs
        assert kernel.metadata.shared <= 227 * 1024, knobs


@pytest.mark.gpu
@pytest.mark.parametrize("name", TASKS)
def test_kernels_are_right_on_a_gpu(name: str, tmp_path: Path) -> None:
    task = TASKS[name]
    norm = FAMILY.matches(task)
    assert norm is not None
    inputs = {
        key: value.cuda() if isinstance(value, torch.Tensor) else value for key, value in draw(task).items()
    }
    truths = expected(task, inputs)
    for knobs in some_knobs(norm, 20):
        proposal = FAMILY.render(norm, knobs)
        written(task, proposal, tmp_path)
        outputs = [output.cuda() for output in poisoned(task)]
        imported(proposal.candidate(task, "template", Hardware.B200), tmp_path).run(
            *inputs.values(), *outputs
        )
        for output, truth in zip(outputs, truths, strict=True):
            assert_close(output, truth, proposal.strategy)
