"""fp32 products of widened operands: taken in the narrow type where nothing is lost, and only there."""

import pytest
import torch

from tasks.task import Task
from tests.agents.ruled import elsewhere, outputs_of, ruled, task_of
from tests.agents.small import draw, expected

OUT = {"y": (["rows", "width"], "float32")}


def _task(body: str, weight: str = "bfloat16", x: str = "bfloat16") -> Task:
    inputs = {
        "x": (["rows", "depth"], x), "w": (["width", "depth"], weight), "s": (["width"], "float32"),
        "d": (["depth"], "float32"),
    }  # fmt: skip
    return task_of(body, inputs, OUT, {"rows": 5}, {"width": 8, "depth": 16})


MATCHED = {
    "widened": _task("return x.float() @ w.float().t()"),
    "int8 with a scale a row": _task("return x.float() @ (w.float() * s[:, None]).t()", "int8"),
    "fp8 divided by a scale": _task(
        "return x.float() @ (w.float() / (s[:, None].abs() + 1)).t()", "float8_e4m3fn"
    ),
}


@pytest.mark.parametrize("name", MATCHED)
def test_a_product_keeps_its_numbers(name: str) -> None:
    task = MATCHED[name]
    source = ruled(task, "wide_product")
    assert source is not None and "_wide_product(x, " in source
    other = elsewhere(task, {"rows": 9})
    inputs = draw(other, 1)
    torch.testing.assert_close(outputs_of(source, inputs), expected(other, inputs), rtol=1e-5, atol=1e-5)


REFUSED = {
    "a scale along the sum": _task("return x.float() @ (w.float() * d).t()"),
    "an operand that was wide": _task("return x @ w.float().t()", x="float32"),
    "two kinds of halves": _task("return x.float() @ w.float().t()", "float16"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_lose_bits_is_left_alone(name: str) -> None:
    assert ruled(REFUSED[name], "wide_product") is None
