"""Selections, sorts by counting and fp8 blocks on a real GPU, against the library there; they compile here."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from agents.rewrite.agent import RewriteAgent
from guard.cross_compile import examine
from tasks.gpu import load_gpu
from tasks.task import Task
from tests.agents.ruled import elsewhere, ruled
from tests.agents.small import draw, expected
from tests.agents.test_rewrite_eight_bits import MADE, PRODUCTS
from tests.agents.test_rewrite_selection import COUNTED, GROUPED, TASKS, ids_task, rows_task

UNSORTED = {
    "groups, unsorted": rows_task(GROUPED.replace("sorted=True", "sorted=False"), 64),
    "unsorted": rows_task("i = torch.topk(x, 3, sorted=False)[1]\nreturn x.gather(1, i), i", 100),
}


def _sources() -> Iterator[tuple[str, Task, str]]:
    for name, task in {**TASKS, **UNSORTED}.items():
        yield name, task, "selection_in_registers"
    for name, task in MADE.items():
        yield name, task, "quantised_in_blocks"
    for name, task in PRODUCTS.items():
        yield name, task, "block_scaled_product"
        yield name, task, "fp8_block_scaled_product"


CASES = list(_sources())
NAMES = [f"{rule}, {name}" for name, _, rule in CASES]


def _written(task: Task, rule: str, folder: Path) -> Any:
    """A module that Triton can read the source of."""
    source = ruled(task, rule)
    assert source is not None
    (path := folder / "candidate.py").write_text(source)
    spec = importlib.util.spec_from_file_location("candidate", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _there(inputs: dict[str, Any]) -> dict[str, Any]:
    return {name: value.cuda() if hasattr(value, "cuda") else value for name, value in inputs.items()}


@pytest.mark.gpu
@pytest.mark.parametrize(("task", "rule"), [(task, rule) for _, task, rule in CASES], ids=NAMES)
def test_a_gpu_gives_what_its_library_gives(task: Task, rule: str, tmp_path: Path) -> None:
    axis = next(iter(task.workloads[0].axes))
    other = elsewhere(task, {axis: 1037})
    inputs = _there(draw(other, 3))
    found = _written(task, rule, tmp_path).run(*inputs.values())
    found = list(found) if isinstance(found, tuple | list) else [found]
    near = 2e-2 if "product" in rule else 0.0  # sums of bf16 in another order, or the very bits
    for one, wanted in zip(found, expected(other, inputs), strict=True):
        torch.testing.assert_close(one, wanted, rtol=near, atol=near)


@pytest.mark.gpu
def test_ties_are_left_as_the_gpu_leaves_them(tmp_path: Path) -> None:
    task = UNSORTED["unsorted"]
    x = torch.randint(0, 20, (4096, 100), device="cuda").float()
    found = _written(task, "selection_in_registers", tmp_path).run(x, torch.zeros(100, device="cuda"))
    assert torch.equal(found[1], torch.topk(x, 3, sorted=False)[1])


@pytest.mark.gpu
def test_a_sort_by_counting_is_the_stable_one_on_a_gpu(tmp_path: Path) -> None:
    ids = torch.randint(0, 7, (40000, 2), device="cuda")
    found = _written(ids_task(COUNTED), "counting_sort", tmp_path).run(ids)
    for one, other in zip(found, expected(ids_task(COUNTED), {"ids": ids}), strict=True):
        assert torch.equal(one, other)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_the_kernels_compile_for_hopper_and_blackwell_without_spills(target: str, tmp_path: Path) -> None:
    hardware = load_gpu("H200" if target == "sm_90a" else "B200")
    for task in (TASKS["groups"], TASKS["dense"], ids_task(COUNTED), MADE["rows"], PRODUCTS["blocks"]):
        candidate = RewriteAgent(task, 0).ask()
        assert candidate is not None
        reports, _ = examine(candidate, task, (target,), hardware, tmp_path)
        assert all(report.ok and report.kernels for report in reports)
        assert all(kernel.spill_bytes == 0 for report in reports for kernel in report.kernels)


def test_a_cpu_has_the_library_do_what_is_not_sorted(tmp_path: Path) -> None:
    task = UNSORTED["groups, unsorted"]
    inputs = draw(task, 1)
    found = _written(task, "selection_in_registers", tmp_path).run(*inputs.values())
    for one, wanted in zip(found, expected(task, inputs), strict=True):
        assert torch.equal(one, wanted)
