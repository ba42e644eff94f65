"""Matrix products: what is recognised, and that the kernels are right whatever the knobs, under the interpreter."""

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from agents.templates.base import Knobs
from agents.templates.gemm import Gemm, GemmFamily
from agents.templates.gemm.knobs import fits
from agents.templates.gemm.plan import class_of, plan_of_knobs
from tasks.loading import load
from tasks.task import Task
from tests.agents.interpreted import Call, run_interpreted
from tests.agents.small import draw, expected, make_task, poisoned, written

FAMILY = GemmFamily()
HEAD = "import torch\nimport torch.nn.functional as F\nimport math\n\n@torch.no_grad()\n"
Shapes = Mapping[str, tuple[list[str] | None, str]]
X, BATCH = ["m", "k"], ["b", "m", "k"]


def product_task(body: str, inputs: Shapes, output: tuple[list[str], str], **sizes: int) -> Task:
    reference = HEAD + f"def run({', '.join(inputs)}):\n" + "".join(f"    {t}\n" for t in body.splitlines())
    axes = {"m": 37, "n": 70, "k": 96, **({"b": 2} if "b" in output[0] else {}), **sizes}
    return make_task(reference, inputs, {"y": output}, axes)


def operands(dtype: str = "bfloat16", **others: list[str]) -> dict[str, tuple[list[str] | None, str]]:
    named = {"x": X, "weight": ["n", "k"], **others}
    return {name: (shape, dtype) for name, shape in named.items()}


Y = (["m", "n"], "bfloat16")
TASKS = {
    "a weight of rows": product_task("return x @ weight.T", operands(), Y),
    "a weight of columns, fp16": product_task(
        "return torch.matmul(x, weight)", operands("float16", weight=["k", "n"]), (["m", "n"], "float16"), k=49
    ),
    "linear with a bias": product_task("return F.linear(x, weight, bias)", operands(bias=["n"]), Y, n=64),
    "addmm and an activation": product_task(
        "return F.silu(torch.addmm(bias, x, weight.t()))", operands(bias=["n"]), Y, m=1
    ),
    "a residual after rounding": product_task(
        "mixed = x @ weight.T\nreturn r + mixed", operands(x=BATCH, r=["b", "m", "n"]), (["b", "m", "n"], "bfloat16")
    ),
    "gate and up": product_task(
        "return F.gelu(x @ weight.T, approximate='tanh') * (x @ up.T)", operands(up=["n", "k"]), Y, m=5
    ),
    "wide until the end": product_task(
        "return (x.float() @ weight.float().T * 0.5 + r.float()).to(torch.bfloat16)", operands(r=["m", "n"]), Y, k=131
    ),
    "wide to the end": product_task(
        "flat = x.reshape(-1, x.shape[-1])\nreturn (flat.float() @ weight.float().T)",
        operands(x=BATCH), (["bm", "n"], "float32"), bm=74, b=2,
    ),
}  # fmt: skip
ULPS = {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-18}


def recognised(task: Task) -> Gemm:
    gemm = FAMILY.matches(task)
    assert gemm is not None
    return gemm


@pytest.mark.parametrize("name", TASKS)
def test_the_product_is_recognised(name: str) -> None:
    gemm = recognised(TASKS[name])
    assert gemm.rows == "x"
    assert [p.weight for p in gemm.products] == (["weight", "up"] if name == "gate and up" else ["weight"])
    assert gemm.products[0].transposed == ("columns" not in name)


def test_the_roundings_of_the_reference_are_kept() -> None:
    def roundings(name: str) -> int:
        return sum("bfloat16" in step for step in recognised(TASKS[name]).steps)

    assert roundings("a residual after rounding") == 2
    assert roundings("linear with a bias") == 1
    assert roundings("wide until the end") == 1
    assert roundings("wide to the end") == 0
    assert roundings("gate and up") == 4


NOT_PRODUCTS = {
    "two outputs": make_task(
        HEAD + "def run(x, weight):\n    return x @ weight.T, x\n", operands(), {"y": Y, "z": (X, "bfloat16")},
        {"m": 3, "n": 4, "k": 5},
    ),
    "a softmax after": product_task("return torch.softmax(x @ weight.T, dim=-1)", operands(), Y),
    "fp32 operands": product_task("return x @ weight.T", operands("float32"), (["m", "n"], "float32")),
    "a square of one input": product_task("return x @ x.T", {"x": (X, "bfloat16")}, (["m", "m"], "bfloat16")),
    "three products": product_task(
        "return x @ weight.T + x @ u.T + x @ v.T", operands(u=["n", "k"], v=["n", "k"]), Y
    ),
    "rounded operands": product_task(
        "return x.to(torch.float8_e4m3fn).to(torch.bfloat16) @ weight.T", operands(), Y
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_PRODUCTS)
def test_what_is_no_product_of_inputs_is_left_alone(name: str) -> None:
    assert FAMILY.matches(NOT_PRODUCTS[name]) is None


@pytest.mark.parametrize("name", ["l1_bf16_gemm", "l1_attention_projection_residual"])
def test_shipped_products_are_recognised(name: str) -> None:
    assert FAMILY.matches(load(name)) is not None


@pytest.mark.parametrize(
    "name", ["l1_swiglu", "l2_decoder", "l2_mlp_block", "l1_rmsnorm", "quant_fp8_linear"]
)
def test_other_shipped_tasks_are_not(name: str) -> None:
    assert FAMILY.matches(load(name)) is None


def some_knobs(gemm: Gemm, count: int) -> list[Knobs]:
    """The first of the suggested ones, and a sample of the rest."""
    space = FAMILY.knobs(gemm)
    settings = list(space.settings())
    random.Random(3).shuffle(settings)
    return [*space.start[:2], *settings[:count]]


def test_kernels_are_right_whatever_the_knobs(tmp_path: Path) -> None:
    jobs, wanted, names = [], [], []
    for name, task in TASKS.items():
        inputs = draw(task)
        for knobs in some_knobs(recognised(task), 2):
            proposal = FAMILY.render(recognised(task), knobs)
            jobs.append((written(task, proposal, tmp_path), [(list(inputs.values()), poisoned(task))]))
            wanted.append(expected(task, inputs)[0])
            names.append(f"{name}: {proposal.strategy}")
    for name, ((output,),), truth in zip(names, run_interpreted(jobs, tmp_path), wanted, strict=True):
        assert_close(output, truth, name)


MANY: Knobs = {
    "rows": "many", "block_m": 128, "block_n": 128, "block_k": 64, "warps": 8, "stages": 3, "parts": 1, "persistent": True,
    "swapped": False, "pieces": 2, "streamed": False,
}  # fmt: skip
SOME: Knobs = {**MANY, "rows": "some", "block_m": 64, "parts": 4, "persistent": False, "pieces": 1}
FEW: Knobs = {**SOME, "rows": "few", "block_m": 16, "block_n": 32, "warps": 4, "parts": 2, "swapped": True}
STREAMED: Knobs = {**FEW, "stages": 1, "parts": 1, "block_k": 128, "streamed": True}


def test_every_kind_of_plan_serves_every_shape_and_layout(tmp_path: Path) -> None:
    """Also shapes that it was not made for, as a plan is chosen by the nearest; and the same bits every time."""
    task = TASKS["a residual after rounding"]
    calls = [(inputs, [o.clone() for o in outputs]) for inputs, outputs in odd_calls() for _ in range(2)]
    jobs = []
    for knobs, rows in ((MANY, 1000), (SOME, 100), (FEW, 8), (STREAMED, 8)):
        gemm = replace(recognised(task), shapes=((rows, 70, 96),))
        jobs.append((written(task, FAMILY.render(gemm, knobs), tmp_path), calls))
    for results in run_interpreted(jobs, tmp_path):
        for (inputs, _), (output,) in zip(calls, results, strict=True):
            (truth,) = expected(task, dict(zip(("x", "weight", "r"), inputs, strict=True)))
            assert_close(output, truth, str([tuple(i.shape) for i in inputs]))
        for (first,), (again,) in zip(results[::2], results[1::2], strict=True):
            assert torch.equal(first.nan_to_num(7), again.nan_to_num(7))


def odd_calls() -> list[Call]:
    def call(b: int, m: int, n: int, k: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        generator = torch.Generator().manual_seed(b + m + n + k)
        made = [torch.randn(s, generator=generator).bfloat16() for s in ((b, m, k), (n, k), (b, m, n))]
        return made[0], made[1] * k**-0.5, made[2]

    calls: list[Call] = [
        (list(call(*s)), [blank(*s[:3])]) for s in ((1, 1, 1, 1), (1, 131, 7, 13), (2, 3, 40, 64))
    ]
    x, weight, r = call(2, 5, 24, 48)
    calls += [
        ([turned(x), turned(weight), turned(r)], [blank(2, 5, 24)]),
        ([torch.cat([x, x], -1)[..., 1:49], weight[:, :48], r], [blank(5, 2, 24).transpose(0, 1)]),
        ([x[:0], weight, r[:0]], [blank(0, 5, 24)]),
        ([x.abs() * 1e36, weight.abs() * 1e4, r], [blank(2, 5, 24)]),
        ([x * 0, weight, r * 1e-38], [blank(2, 5, 24)]),
    ]  # fmt: skip
    return calls


def turned(tensor: torch.Tensor) -> torch.Tensor:
    """The same values, columns one after the other in memory."""
    return tensor.mT.contiguous().mT


def blank(*shape: int) -> torch.Tensor:
    return torch.full(shape, float("nan"), dtype=torch.bfloat16)


@pytest.mark.parametrize("name", ["l1_bf16_gemm", "l1_attention_projection_residual"])
def test_settings_fit_and_suggestions_are_among_them(name: str) -> None:
    gemm = recognised(load(name))
    space = FAMILY.knobs(gemm)
    settings = list(space.settings())
    assert 100 < len(settings) < 2500
    assert all(fits(plan_of_knobs(knobs), gemm) for knobs in settings)
    assert all(dict(knobs) in settings for knobs in space.start)
    assert {knobs["rows"] for knobs in space.start} == {class_of(shape) for shape in gemm.shapes}


@pytest.mark.parametrize("m", [1, 2, 17, 64, 65, 500, 513, 100_000])
def test_any_number_of_rows_has_suggestions(m: int) -> None:
    for products in (1, 2):
        gemm = recognised(TASKS["gate and up" if products == 2 else "a weight of rows"])
        space = FAMILY.knobs(replace(gemm, shapes=((m, 777, 1001),)))
        assert space.start, (m, products)


def test_a_table_gives_each_shape_its_own_plan() -> None:
    gemm = replace(recognised(TASKS["a weight of rows"]), shapes=((8, 70, 96), (1000, 70, 96)))
    source = FAMILY.render_table(gemm, {(8, 70, 96): FEW}).source
    assert "(8, 70, 96): (16, 32, 64, 4, 3, 2, False, True, 1, False)," in source
    assert "(1000, 70, 96): (" in source


def assert_close(output: torch.Tensor, truth: torch.Tensor, name: str) -> None:
    """Within two ulps of what is added up: the interpreter cuts off where a GPU rounds to nearest."""
    assert output.dtype == truth.dtype and output.shape == truth.shape
    ulp = ULPS[str(truth.dtype).removeprefix("torch.")]
    scale = float(truth.double().nan_to_num(0, 0, 0).square().mean().sqrt()) if truth.numel() else 1.0
    atol = max(4 * ulp * scale, 2e-38)  # what is smaller still is cut to zero
    assert torch.allclose(output.double(), truth.double(), rtol=4 * ulp, atol=atol, equal_nan=True), name
