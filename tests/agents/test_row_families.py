"""Gates, rotations and the backward pass of RMSNorm: what is recognised, and that the kernels are right."""

from pathlib import Path

import pytest
import torch

from agents.templates import FAMILIES
from agents.templates.base import Knobs
from tasks.loading import load
from tasks.solution import Hardware
from tasks.task import Task
from tests.agents.interpreted import run_interpreted
from tests.agents.small import draw, expected, make_task, poisoned
from tests.agents.test_row_norm import assert_close

HEAD = "import torch\nimport torch.nn.functional as F\n\n@torch.no_grad()\n"


def of_halves(body: str, dtype: str = "bfloat16", width: int = 70) -> Task:
    reference = HEAD + f"def run(x):\n    {body}\n"
    return make_task(
        reference,
        {"x": (["n", "w"], dtype)},
        {"y": (["n", "d"], dtype)},
        {"n": 7},
        {"w": 2 * width, "d": width},
    )


def rope_task(
    body: str, shape: list[str], rows: list[str], angles: str = "d", dtype: str = "bfloat16"
) -> Task:
    reference = HEAD + f"def run(q, k, cos, sin):\n{body}"
    other = [axis.replace("h", "g") if axis == "h" else axis for axis in shape]
    return make_task(
        reference,
        {"q": (shape, dtype), "k": (other, dtype), "cos": ([*rows, angles], "float32"),
         "sin": ([*rows, angles], "float32")},
        {"qr": (shape, dtype), "kr": (other, dtype)},
        {"b": 2, "s": 5, "h": 3, "g": 2},
        {"d": 20, "half": 10},
    )  # fmt: skip


HALVES = """    def turned(x):
        a, b = x[..., :10], x[..., 10:]
        return (x * cos + torch.cat([-b, a], dim=-1) * sin).to(x.dtype)
    return turned(q), turned(k)
"""
PAIRS = """    def turned(x):
        a, b = x.float()[..., 0::2], x.float()[..., 1::2]
        c, s = cos[:, None], sin[:, None]
        return torch.stack([a * c - b * s, a * s + b * c], dim=-1).flatten(-2).to(x.dtype)
    return turned(q), turned(k)
"""
BACKWARD = """
def run(grad, x, w):
    h = x.float()
    r = torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
    n = h * r
    g = grad.float() * w.float()
    dx = r * (g - n * (g * n).mean(dim=-1, keepdim=True))
    return dx.to(x.dtype), (grad.float() * n).sum(dim=0).to(w.dtype)
"""
GIVEN_INVERSE = """
def run(x, grad, r):
    n = x * r
    return r * (grad - n * (grad * n).sum(dim=-1, keepdim=True) / x.shape[-1])
"""
TASKS = {
    "swiglu of halves": of_halves(
        "g, u = x.float().chunk(2, dim=-1)\n    return (g * torch.sigmoid(g) * u).to(x.dtype)"
    ),
    "swiglu rounds": of_halves("g, u = x.chunk(2, dim=-1)\n    return F.silu(g) * u"),
    "swiglu, the second half gates": of_halves(
        "return F.gelu(x[:, 300:], approximate='tanh') * x[:, :300]", "float32", 300
    ),
    "swiglu of two": make_task(
        HEAD + "def run(g, u):\n    return F.gelu(g) * u\n",
        {"g": (["b", "n", "d"], "float32"), "u": (["b", "n", "d"], "float32")},
        {"y": (["b", "n", "d"], "float32")},
        {"b": 2, "n": 3},
        {"d": 33},
    ),
    "rope, heads first": rope_task(HALVES, ["b", "h", "s", "d"], ["s"], dtype="float32"),
    "rope, tokens first, pairs": rope_task(PAIRS, ["s", "h", "d"], ["s"], "half"),
    "rows_backward of both": make_task(
        HEAD.replace("@torch.no_grad()\n", "") + BACKWARD,
        {"grad": (["n", "d"], "bfloat16"), "x": (["n", "d"], "bfloat16"), "w": (["d"], "bfloat16")},
        {"dx": (["n", "d"], "bfloat16"), "dw": (["d"], "bfloat16")},
        {"n": 37},
        {"d": 100},
    ),
    "rows_backward, inverse given": make_task(
        HEAD.replace("@torch.no_grad()\n", "") + GIVEN_INVERSE,
        {"x": (["n", "d"], "float32"), "grad": (["n", "d"], "float32"), "r": (["n", "1"], "float32")},
        {"dx": (["n", "d"], "float32")},
        {"n": 5},
        {"d": 33},
    ),
}


def family_of(name: str) -> str:
    return name.replace(",", "").split()[0]


@pytest.mark.parametrize("name", TASKS)
def test_each_is_recognised_by_its_family_alone(name: str) -> None:
    matching = [family for family in FAMILIES if FAMILIES[family].matches(TASKS[name]) is not None]
    assert matching == [family_of(name)]


def test_what_the_numbers_tell() -> None:
    matches = {name: FAMILIES[family_of(name)].matches(task) for name, task in TASKS.items()}
    assert matches["swiglu of halves"].activated_rounded_to is None
    assert matches["swiglu rounds"].activated_rounded_to == "bfloat16"
    assert not matches["swiglu, the second half gates"].gate_is_first
    assert (matches["rope, heads first"].angles, matches["rope, heads first"].interleaved) == ("full", False)
    assert (
        matches["rope, tokens first, pairs"].angles,
        matches["rope, tokens first, pairs"].interleaved,
    ) == ("half", True)
    assert (matches["rows_backward of both"].x, matches["rows_backward of both"].eps) == ("x", 1e-6)
    assert matches["rows_backward, inverse given"].inverse_rms == "r"


@pytest.mark.parametrize(
    "body",
    [
        "g, u = x.chunk(2, dim=-1)\n    return F.silu(g) * u * 1.01",
        "g, u = x.chunk(2, dim=-1)\n    return F.silu(g) + u",
        "g, u = x.chunk(2, dim=-1)\n    return F.elu(g) * u",
    ],
)
def test_what_only_looks_alike_is_left_alone(body: str) -> None:
    assert FAMILIES["swiglu"].matches(of_halves(body)) is None


@pytest.mark.parametrize(("family", "name"), [("swiglu", "l1_swiglu"), ("rope", "l1_rope")])
def test_shipped_tasks_are_recognised(family: str, name: str) -> None:
    assert FAMILIES[family].matches(load(name)) is not None


def test_kernels_are_right_for_the_settings_tried_first_and_for_any_strides(tmp_path: Path) -> None:
    jobs, wanted, names = [], [], []
    for name, task in TASKS.items():
        family = FAMILIES[family_of(name)]
        match, inputs = family.matches(task), draw(task)
        strided = {key: t.mT.contiguous().mT for key, t in inputs.items() if t.dim() > 1}
        for knobs, given in zip(family.knobs(match).start[:2], (inputs, {**inputs, **strided}), strict=True):
            path = written(family.render(match, knobs).source, tmp_path, len(jobs))
            jobs.append((path, [(list(given.values()), poisoned(task))]))
            wanted.append(expected(task, inputs))
            names.append(f"{name}: {dict(knobs)}")
    for name, (outputs,), truths in zip(names, run_interpreted(jobs, tmp_path), wanted, strict=True):
        for output, truth in zip(outputs, truths, strict=True):
            assert_close(output, truth, name)


def test_one_row_no_row_and_extreme_values(tmp_path: Path) -> None:
    family, task = FAMILIES["swiglu"], TASKS["swiglu, the second half gates"]
    match = family.matches(task)
    path = written(family.render(match, first(match, "swiglu")).source, tmp_path, 0)
    wild = torch.tensor([[1e30, -1e30, 3e38, -3e38, 0.0, -0.0, 88.0, -88.0]]).repeat(1, 75)
    calls = [
        ([x], [torch.full((len(x), 300), float("nan"))])
        for x in (torch.randn(1, 600), torch.randn(0, 600), wild)
    ]
    (results,) = run_interpreted([(path, calls)], tmp_path)
    for ((x,), _), (output,) in zip(calls, results, strict=True):
        torch.testing.assert_close(output, *expected(task, {"x": x}), equal_nan=True)


def first(match: object, family: str) -> Knobs:
    return FAMILIES[family].knobs(match).start[0]


def written(source: str, folder: Path, number: int) -> Path:
    path = folder / f"kernel_{number}.py"
    path.write_text(source)
    return path


def test_candidates_name_their_target() -> None:
    task = load("l1_swiglu")
    match = FAMILIES["swiglu"].matches(task)
    proposal = FAMILIES["swiglu"].render(match, first(match, "swiglu"))
    assert proposal.candidate(task, "template", Hardware.B200).solution.spec.destination_passing_style
