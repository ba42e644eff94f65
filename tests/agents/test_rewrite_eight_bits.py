"""Matrices made fp8 block by block, and products of such: what the rules match, what not, and that numbers agree."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tasks.task import Task
from tests.agents.interpreted import Call, run_interpreted
from tests.agents.ruled import Specs, elsewhere, ruled, task_of
from tests.agents.small import draw, expected

WIDE = {
    "x": (["rows", "depth"], "bfloat16"),
    "w": (["width", "depth"], "bfloat16"),
    "c": (["width"], "bfloat16"),
}
NARROW = {
    "x": (["rows", "depth"], "float8_e4m3fn"), "s": (["rows", "blocks"], "float32"),
    "w": (["width", "depth"], "float8_e4m3fn"), "t": (["high", "blocks"], "float32"), "c": (["width"], "float32"),
}  # fmt: skip
SIZES = {"depth": 128, "width": 64, "blocks": 4, "high": 2}
OUT = {"y": (["rows", "width"], "bfloat16")}
QUANTISED = """
b = x.float().view(-1, 1, 4, 32)
s = (b.abs().amax(dim=(1, 3)) / 448.0).clamp(min=1e-12)
q = torch.clamp(b / s[:, None, :, None], -448.0, 448.0).reshape(-1, 128).to(torch.float8_e4m3fn)
return q.float(), s
"""
TURNED = """
b = w.float().T.reshape(4, 32, 2, 32)
s = b.abs().amax(dim=3).amax(dim=1) / 448.0
q = (b / s.unsqueeze(1).unsqueeze(3)).reshape(128, 64).T.to(torch.float8_e4m3fn)
return q.float(), s
"""
BLOCKS = """
a = x.float() * s.repeat_interleave(32, 1)
b = (w.float().view(2, 32, 4, 32) * t[:, None, :, None]).view(64, 128)
"""


def _task(body: str, inputs: Specs | None = None, outputs: Any = None) -> Task:
    return task_of(body, inputs or NARROW, outputs or OUT, {"rows": 5}, SIZES)


def _quantised(body: str, matrix: list[str], scales: list[str]) -> Task:
    return _task(body, WIDE, {"q": (matrix, "float32"), "s": (scales, "float32")})


MADE = {
    "rows": _quantised(QUANTISED, ["rows", "depth"], ["rows", "blocks"]),
    "turned blocks": _quantised(TURNED, ["width", "depth"], ["blocks", "high"]),
}
PRODUCTS = {
    "blocks": _task(BLOCKS + "return (a @ b.T).to(torch.bfloat16)"),
    "a row added": _task(BLOCKS + "return (F.linear(a, b) + c).to(torch.bfloat16)"),
    "kept wide": _task(BLOCKS + "return a @ b.T * 2", outputs={"y": (["rows", "width"], "float32")}),
    "a scale a row": _task(
        "return ((x.float() * s[:, :1]) @ (w.float() * c[:, None]).t()).to(torch.bfloat16)"
    ),
}


def _run(
    tasks: dict[str, Task], rule: str, folder: Path
) -> list[tuple[list[torch.Tensor], list[torch.Tensor]]]:
    """What the rule leaves gives, and what is expected, at another number of rows."""
    jobs: list[tuple[Path, list[Call]]] = []
    wanted = []
    for number, task in enumerate(tasks.values()):
        source = ruled(task, rule)
        assert source is not None
        (path := folder / f"task_{number}.py").write_text(source)
        other = elsewhere(task, {"rows": 37})
        inputs = draw(other, number)
        jobs.append((path, [(list(inputs.values()), [])]))
        wanted.append(expected(other, inputs))
    return [(found, values) for (found,), values in zip(run_interpreted(jobs, folder), wanted, strict=True)]


def test_a_matrix_is_made_fp8_to_the_bit(tmp_path: Path) -> None:
    for found, wanted in _run(MADE, "quantised_in_blocks", tmp_path):
        assert torch.equal(found[0], wanted[0]) and torch.equal(found[1], wanted[1])


@pytest.mark.parametrize("rule", ["block_scaled_product", "fp8_block_scaled_product"])
def test_a_product_of_scaled_blocks_keeps_its_numbers(rule: str, tmp_path: Path) -> None:
    for found, wanted in _run(PRODUCTS, rule, tmp_path):
        assert found[0].dtype == wanted[0].dtype
        # the interpreter cuts bf16 off where a GPU rounds it
        near = 1e-2 if found[0].dtype == torch.bfloat16 else 1e-5
        torch.testing.assert_close(found[0], wanted[0], rtol=near, atol=near)


def test_scale_and_division_are_one_launch() -> None:
    source = ruled(MADE["rows"], "quantised_in_blocks")
    assert source is not None and "amax" not in source and source.count("_kernel[") == 1


REFUSED_PRODUCTS = {
    "a scale of every value": _task(
        "return ((x.float() * (s.repeat(1, 32))) @ (w.float() * t[0, 0]).T).to(torch.bfloat16)"
    ),
    "no scale on one side": _task(
        "return ((x.float() * s.repeat_interleave(32, 1)) @ w.float().T).to(torch.bfloat16)"
    ),
    "a sum": _task(
        "return ((x.float() + s.repeat_interleave(32, 1)) @ (w.float() * t[0, 0]).T).to(torch.bfloat16)"
    ),
}


@pytest.mark.parametrize("name", REFUSED_PRODUCTS)
def test_products_of_anything_else_are_left_alone(name: str) -> None:
    assert ruled(REFUSED_PRODUCTS[name], "block_scaled_product") is None


@pytest.mark.parametrize(
    "body",
    [
        QUANTISED.replace("amax(dim=(1, 3))", "mean(dim=(1, 3))"),
        QUANTISED.replace("b.abs()", "(b * 2).abs()"),
        QUANTISED.replace(
            "s = (b.abs().amax(dim=(1, 3))", "s = (b.abs().amax(dim=(0, 3)).expand(x.shape[0], 4)"
        ),
    ],
)
def test_scales_of_another_kind_are_left_alone(body: str) -> None:
    assert ruled(_quantised(body, ["rows", "depth"], ["rows", "blocks"]), "quantised_in_blocks") is None
