"""Attention kernels for real GPUs: they compile for Hopper and Blackwell here, and run where there is one."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch

from agents.templates import FAMILIES
from agents.templates.base import Knobs
from tasks.inputs import InputGenerator
from tasks.loading import load
from tasks.solution import Hardware
from tasks.task import Task
from tests.agents.small import imported

FAMILY_OF = {
    "fi_paged_prefill": "paged_prefill",
    "fi_paged_decode": "paged_decode",
    "quant_nvfp4_gqa": "nvfp4_gqa",
}
HALF, WORD, BYTE, SCALE = "*bf16", "*i32", "*u8", "*fp8e4nv"
PAGED = {
    **dict.fromkeys(("query", "keys", "values", "output"), HALF),
    **dict.fromkeys(("query_starts", "key_starts", "pages", "last_page_tokens"), WORD),
    **dict.fromkeys(("lse", "partial", "partial_lse"), "*fp32"),
    "scale": "fp32",
}
CACHE = {
    **dict.fromkeys(("keys", "values", "token", "weight"), BYTE),
    **dict.fromkeys(("key_scales", "value_scales", "token_scale", "weight_scale"), SCALE),
    **dict.fromkeys(("heads", "output"), HALF),
    **dict.fromkeys(("partial", "partial_lse"), "*fp32"),
    **dict.fromkeys(("scale", "key_scale", "new_scale", "value_scale"), "fp32"),
}


def kernels(name: str, module: Any, knobs: Knobs) -> list[tuple[Any, dict[str, str], dict[str, Any], int]]:
    """Every kernel that takes time, the types of its pointers, its constants and warps."""
    shape = {"kv_heads": 4, "group": 8, "dims": 128, "page_size": 16, "batch_block": 64, "wide": False}
    if name == "fi_paged_prefill":
        blocks = {key: knobs[key] for key in ("block_m", "block_n", "stages")}
        return [(module.prefill, PAGED, {**shape, "width": 8, **blocks}, int(knobs["warps"]))]
    if name == "fi_paged_decode":
        blocks = {"block_m": 16, "block_n": knobs["block_n"], "stages": knobs["stages"]}
        return [(module.decode, PAGED, {**shape, **blocks}, int(knobs["warps"]))]
    attention = {"kv_heads": 8, "group": 4, "dims": 128, "block_m": 16, "block_new": 16, "wide": False}
    blocks = {"block_n": knobs["block_n"], "stages": knobs["stages"]}
    heads = {key: module.HEADS[key] for key in ("block_n", "block_k", "stages")}
    project = {"columns": 6144, "packed": 2048, "block_m": 16, "wide": False, **heads}
    return [
        (module.attend, CACHE, {**attention, **blocks}, int(knobs["warps"])),
        (module.project, CACHE, project, 4),
    ]


def spilled(
    kernel: Any, types: dict[str, str], constants: dict[str, Any], warps: int, capability: int, folder: Path
) -> int:
    """Bytes a thread, as `cuobjdump` of the Triton wheel reports them."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    names = kernel.arg_names
    signature = {n: "constexpr" if n in constants else types.get(n, "i32") for n in names}
    aligned = [i for i, n in enumerate(names) if n.endswith("stride") or signature[n].startswith("*")]
    attributes = {(i,): [["tt.divisibility", 16]] for i in aligned}
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attributes)
    compiled = triton.compile(source, target=GPUTarget("cuda", capability, 32), options={"num_warps": warps})
    assert compiled.metadata.shared <= 227 * 1024
    (folder / "kernel.cubin").write_bytes(compiled.asm["cubin"])
    tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    said = subprocess.run(
        [tool, "-res-usage", folder / "kernel.cubin"], capture_output=True, text=True, check=True
    ).stdout
    return int(re.findall(r"STACK:(\d+)", said)[0])


@pytest.mark.slow
@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") == "1", reason="the interpreter does not compile")
@pytest.mark.parametrize("capability", [90, 100])
@pytest.mark.parametrize("name", FAMILY_OF)
def test_the_default_compiles_and_hardly_spills(
    name: str, capability: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    task, family = load(name), FAMILIES[FAMILY_OF[name]]
    match = family.matches(task)
    knobs = family.knobs(match).start[0]
    module = imported(family.render(match, knobs).candidate(task, "template", Hardware.B200), tmp_path)
    for kernel, types, constants, warps in kernels(name, module, knobs):
        assert spilled(kernel, types, constants, warps, capability, tmp_path) <= 64, kernel.__name__


@pytest.mark.gpu
@pytest.mark.parametrize("name", FAMILY_OF)
def test_suggestions_are_right_on_a_gpu(name: str, tmp_path: Path) -> None:
    task, family = load(name), FAMILIES[FAMILY_OF[name]]
    match = family.matches(task)
    namespace: dict[str, Any] = {}
    exec(compile(task.definition.reference, "reference", "exec"), namespace)
    for workload in task.workloads[::4]:
        inputs = list(InputGenerator(task.definition, workload, "cuda", task.blob_roots).make(seed=1))
        truths = namespace["run"](*inputs)
        truths = truths if isinstance(truths, tuple) else (truths,)
        for knobs in family.knobs(match).start:
            outputs = [torch.full_like(truth, float("nan")) for truth in truths]
            imported(candidate(task, name, knobs), tmp_path).run(*inputs, *outputs)
            tolerance = workload.tolerance
            for output, truth in zip(outputs, truths, strict=True):
                near = (output.float() - truth.float()).abs() <= (
                    tolerance.max_atol + tolerance.max_rtol * truth.float().abs()
                )
                assert float(near.float().mean()) >= 0.99, (workload.axes, knobs)


def candidate(task: Task, name: str, knobs: Knobs) -> Any:
    family = FAMILIES[FAMILY_OF[name]]
    return family.render(family.matches(task), knobs).candidate(task, "template", Hardware.B200)
