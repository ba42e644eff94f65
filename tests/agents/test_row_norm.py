"""Row-wise norms: what is recognised, and that the kernels are right whatever the knobs, under the interpreter."""

import dataclasses
import random
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch

from agents.templates.base import Knobs
from agents.templates.row_norm import RowNorm, RowNormFamily
from agents.templates.row_norm.knobs import tiling
from tasks.loading import load
from tasks.task import Task
from tests.agents.interpreted import Call, run_interpreted
from tests.agents.small import draw, expected, make_task, poisoned, written

FAMILY = RowNormFamily()
HEAD = "import torch\nimport torch.nn.functional as F\n\n@torch.no_grad()\n"
Tensors = Mapping[str, tuple[list[str] | None, str]]


def norm_task(body: str, inputs: Tensors, outputs: tuple[str, ...] = ("bfloat16",), width: int = 100) -> Task:
    reference = HEAD + f"def run({', '.join(inputs)}):\n" + "".join(f"    {t}\n" for t in body.splitlines())
    made = {f"y{i}": (["n", "d"], dtype) for i, dtype in enumerate(outputs)}
    return make_task(reference, inputs, made, {"n": 5}, {"d": width})


def tensors(dtype: str, *names: str) -> dict[str, tuple[list[str] | None, str]]:
    rows = ("x", "r")
    return {name: (["n", "d"] if name in rows else ["d"], dtype) for name in names}


RMS = "torch.rsqrt({0}.pow(2).mean(-1, keepdim=True) + 1e-5)"
TASKS = {
    "rms bf16": norm_task(
        f"w = x.float()\nreturn (w * {RMS.format('w')} * g.float()).to(x.dtype)",
        tensors("bfloat16", "x", "g"),
    ),
    "rms fp16, no gain": norm_task(
        f"w = x.float()\nreturn (w * {RMS.format('w')}).half()", tensors("float16", "x"), ("float16",)
    ),
    "rms fp32, gain from one": norm_task(
        f"return x * {RMS.format('x')} * (1 + g)", tensors("float32", "x", "g"), ("float32",)
    ),
    "rms bf16, gain after rounding": norm_task(
        f"s = r + x\nw = s.to(torch.float32)\nh = w * {RMS.format('w')}\nreturn g * h.to(torch.bfloat16)",
        tensors("bfloat16", "x", "r", "g"),
    ),
    "add in fp32, sum kept": norm_task(
        f"t = x.float() + r.float()\ni = {RMS.format('t')}\nreturn (t * i * g.float()).to(x.dtype), t.to(r.dtype)",
        tensors("bfloat16", "x", "r", "g"),
        ("bfloat16", "bfloat16"),
    ),
    "rms by the library": norm_task(
        "return F.rms_norm(x, (100,), g, 1e-5)", tensors("float32", "x", "g"), ("float32",)
    ),
    "layer fp32": norm_task(
        "m = x.mean(-1, keepdim=True)\nv = ((x - m) ** 2).mean(-1, keepdim=True)\n"
        "return (x - m) / torch.sqrt(v + 1e-5) * g + o",
        tensors("float32", "x", "g", "o"),
        ("float32",),
    ),
    "layer bf16 by the library": norm_task(
        "return F.layer_norm(x, (100,), g, o, 1e-5)", tensors("bfloat16", "x", "g", "o")
    ),
    "layer of a sum, widths of four blocks": norm_task(
        "s = x + r\nreturn F.layer_norm(s, (1500,), eps=1e-6), s",
        tensors("float32", "x", "r"),
        ("float32", "float32"),
        1500,
    ),
    "rms with a width of four blocks": norm_task(
        f"w = x.float()\nreturn (w * {RMS.format('w')} * g.float()).to(x.dtype)",
        tensors("bfloat16", "x", "g"),
        width=2000,
    ),
}
ULPS = {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-20}


def recognised(task: Task) -> RowNorm:
    norm = FAMILY.matches(task)
    assert norm is not None
    return norm


@pytest.mark.parametrize("name", TASKS)
def test_the_norm_is_recognised(name: str) -> None:
    norm = recognised(TASKS[name])
    assert norm.kind == name.split()[0].replace("add", "rms")
    assert norm.eps in (1e-5, 1e-6)


def test_the_roundings_of_the_reference_are_kept() -> None:
    norm = recognised(TASKS["rms bf16, gain after rounding"])
    assert (norm.x, norm.added, norm.weight) == ("r", "x", "g")
    assert (norm.sum_rounded_to, norm.hat_rounded_to) == ("bfloat16", "bfloat16")
    norm = recognised(TASKS["add in fp32, sum kept"])
    assert (norm.sum_rounded_to, norm.hat_rounded_to) == (None, None)
    assert (norm.normed_output, norm.sum_output) == ("y0", "y1")


NOT_NORMS = {
    "another output besides": norm_task(
        f"return x * {RMS.format('x')}, x + 1", tensors("float32", "x"), ("float32", "float32")
    ),
    "of a product": norm_task(
        f"w = x * r\nreturn w * {RMS.format('w')}", tensors("float32", "x", "r"), ("float32",)
    ),
    "a gain a row": make_task(
        HEAD + f"def run(x, g):\n    return x * {RMS.format('x')} * g\n",
        {"x": (["n", "d"], "float32"), "g": (["n", "1"], "float32")}, {"y": (["n", "d"], "float32")}, {"n": 3}, {"d": 8},
    ),
    "activation after": norm_task(f"return F.silu(x * {RMS.format('x')})", tensors("float32", "x"), ("float32",)),
}  # fmt: skip


@pytest.mark.parametrize("name", NOT_NORMS)
def test_what_is_more_than_a_norm_is_left_alone(name: str) -> None:
    assert FAMILY.matches(NOT_NORMS[name]) is None


@pytest.mark.parametrize("name", ["l1_rmsnorm", "fi_fused_add_rmsnorm"])
def test_shipped_norms_are_recognised(name: str) -> None:
    assert FAMILY.matches(load(name)) is not None


@pytest.mark.parametrize("name", ["l1_swiglu", "l2_decoder", "l2_mlp_block", "l1_bf16_gemm"])
def test_other_shipped_tasks_are_not(name: str) -> None:
    assert FAMILY.matches(load(name)) is None


def some_knobs(norm: RowNorm, count: int) -> list[Knobs]:
    """The suggested ones, and a sample of the rest that has every value of every knob if it can."""
    space = FAMILY.knobs(norm)
    settings = list(space.settings())
    random.Random(1).shuffle(settings)
    return [*space.start, *settings[:count]]


def test_kernels_are_right_whatever_the_knobs(tmp_path: Path) -> None:
    jobs, wanted, names = [], [], []
    for name, task in TASKS.items():
        inputs = draw(task)
        for knobs in some_knobs(recognised(task), 4):
            proposal = FAMILY.render(recognised(task), knobs)
            jobs.append((written(task, proposal, tmp_path), [(list(inputs.values()), poisoned(task))]))
            wanted.append(expected(task, inputs))
            names.append(f"{name}: {proposal.strategy}")
    for name, (outputs,), truths in zip(names, run_interpreted(jobs, tmp_path), wanted, strict=True):
        for output, truth in zip(outputs, truths, strict=True):
            assert_close(output, truth, name)


def test_inputs_and_outputs_may_have_any_strides_and_rows_any_number_of_dimensions(tmp_path: Path) -> None:
    task = make_task(
        HEAD
        + f"def run(x, g):\n    w = x.float()\n    return (w * {RMS.format('w')} * g.float()).to(x.dtype)\n",
        {"x": (["b", "s", "d"], "bfloat16"), "g": (["d"], "bfloat16")},
        {"y": (["b", "s", "d"], "bfloat16")},
        {"b": 2, "s": 3, "d": 24},
    )
    x, g = torch.randn(2, 3, 24).bfloat16(), torch.randn(24).bfloat16()
    strided_g = torch.stack([g, g], dim=1)[:, 0]
    ways = [
        x,
        x.transpose(0, 1).contiguous().transpose(0, 1),
        x.mT.contiguous().mT,
        torch.cat([x, x], -1)[..., :24],
    ]
    calls: list[Call] = [([way, g], [torch.empty_like(x)]) for way in ways]
    calls.append(([x, strided_g], [torch.empty(3, 2, 24, dtype=x.dtype).transpose(0, 1)]))
    calls.append(([x[:0], g], [torch.empty_like(x[:0])]))
    calls.append(([x[:1, :1], g], [torch.empty_like(x[:1, :1])]))
    calls.append(
        ([torch.randn(1, 2, 777).bfloat16(), torch.ones(777)], [torch.empty(1, 2, 777, dtype=x.dtype)])
    )
    jobs = [
        (written(task, FAMILY.render(recognised(task), k), tmp_path), calls)
        for k in some_knobs(recognised(task), 3)
    ]
    for results in run_interpreted(jobs, tmp_path):
        for (inputs, _), (output,) in zip(calls, results, strict=True):
            (truth,) = expected(task, dict(zip("xg", inputs, strict=True)))
            assert_close(output, truth, "strides")


def test_an_epsilon_that_is_an_input_is_used(tmp_path: Path) -> None:
    inputs: Tensors = {**tensors("float32", "x"), "eps": (None, "float32")}
    task = norm_task("return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)", inputs, ("float32",))
    norm = recognised(task)
    x, output = torch.randn(5, 100), torch.empty(5, 100)
    path = written(task, FAMILY.render(norm, FAMILY.knobs(norm).start[0]), tmp_path)
    ((filled,),) = run_interpreted([(path, [([x, 7.0], [output])])], tmp_path)
    assert_close(filled[0], x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 7.0), "eps")


def test_pruned_settings_are_never_offered() -> None:
    for task in TASKS.values():
        norm = recognised(task)
        for knobs in FAMILY.knobs(norm).settings():
            tile = tiling(knobs, norm.longest)
            assert 2 * tile.per_thread < min(255, 65536 / (32 * tile.warps))
            assert tile.per_thread <= int(knobs["per_thread"])
            assert knobs["stages"] == 1 or knobs["persistent"] or int(knobs["block"]) < norm.longest


@pytest.mark.parametrize("width", [1, 7, 128, 1000, 4096, 8192, 16384, 65536])
def test_rows_of_any_length_have_settings_and_suggestions(width: int) -> None:
    norm = dataclasses.replace(recognised(TASKS["rms bf16"]), longest=width, shortest=width)
    space = FAMILY.knobs(norm)
    settings = list(space.settings())
    assert settings and space.start and all(dict(knobs) in settings for knobs in space.start)


def assert_close(output: torch.Tensor, truth: torch.Tensor, name: str) -> None:
    """Within an ulp for each rounding: the interpreter cuts off where a GPU rounds to nearest."""
    assert output.dtype == truth.dtype
    ulp = ULPS[str(truth.dtype).removeprefix("torch.")]
    assert torch.allclose(output.double(), truth.double(), rtol=3 * ulp, atol=1e-5), name
