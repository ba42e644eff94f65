"""Every rule, on the text it is for: it matches, it uses the library call, and the numbers stay."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import torch

from agents.library.agent import rewritings
from agents.library.rules import RULES
from agents.proposal import Proposal
from tasks.solution import Hardware
from tasks.task import Task
from tests.agents.small import actual, draw, expected, make_task, worst_error

HEAD = "import math\nimport torch\nimport torch.nn.functional as F\n\n@torch.no_grad()\n"
BF16_ULP = 2.0**-7
FP32 = 2e-5


def rows(dtype: str = "bfloat16") -> Mapping[str, tuple[list[str] | None, str]]:
    return {
        "x": (["n", "d"], dtype),
        "gain": (["d"], dtype),
        "shift": (["d"], dtype),
        "eps": (None, "float32"),
    }


def row_task(body: str, dtype: str = "bfloat16", out: str | None = None) -> Task:
    reference = (
        HEAD + "def run(x, gain, shift, eps):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    )
    return make_task(reference, rows(dtype), {"y": (["n", "d"], out or dtype)}, {"n": 5}, {"d": 96})


def attention_task(body: str, kv_heads: int = 4, mask: bool = False, dtype: str = "bfloat16") -> Task:
    inputs: dict[str, tuple[list[str] | None, str]] = {
        "q": (["b", "h", "s", "e"], dtype),
        "k": (["b", "g", "s", "e"], dtype),
        "v": (["b", "g", "s", "e"], dtype),
    }
    if mask:
        inputs["mask"] = (["b", "1", "s", "s"], dtype)
    reference = HEAD + f"def run({', '.join(inputs)}):\n" + "".join(f"    {t}\n" for t in body.splitlines())
    consts = {"h": 4, "g": kv_heads, "e": 16}
    return make_task(reference, inputs, {"y": (["b", "h", "s", "e"], dtype)}, {"b": 2, "s": 7}, consts)


def projection_task(body: str, dtype: str = "bfloat16", out: str = "bfloat16") -> Task:
    inputs: dict[str, tuple[list[str] | None, str]] = {
        "x": (["b", "s", "d"], dtype),
        "weight": (["m", "d"], dtype),
        "weight2": (["m", "d"], dtype),
        "stream": (["b", "s", "m"], dtype),
    }
    reference = HEAD + f"def run({', '.join(inputs)}):\n" + "".join(f"    {t}\n" for t in body.splitlines())
    return make_task(reference, inputs, {"y": (["b", "s", "m"], out)}, {"b": 2, "s": 3}, {"d": 32, "m": 48})


RMS = "x.pow(2).mean(-1, keepdim=True)"
CASES: dict[str, tuple[str, Task, str, float]] = {
    "rms_norm, gain after rounding": (
        "rms_norm",
        row_task(
            "w = x.to(torch.float32)\nw = w * torch.rsqrt(w.pow(2).mean(-1, keepdim=True) + eps)\n"
            "return gain * w.to(x.dtype)"
        ),
        "rms_norm(x, (x.shape[-1],), weight=gain",
        2 * BF16_ULP,
    ),
    "rms_norm, divided by a root": (
        "rms_norm",
        row_task("return x / torch.sqrt(torch.mean(x * x, dim=(-1,), keepdim=True) + 1e-6)", "float32"),
        "rms_norm(x, (x.shape[-1],), eps=1e-06",
        FP32,
    ),
    "rms_norm of a wide sum": (
        "rms_norm",
        row_task(
            "t = x.float() + shift.float()\ninverse = torch.rsqrt(torch.mean(t ** 2, -1, keepdim=True) + eps)\n"
            "return (t * inverse * gain.float()).to(torch.bfloat16)"
        ),
        "rms_norm(t, (t.shape[-1],), weight=gain.to(t.dtype)",
        BF16_ULP,
    ),
    "layer_norm written out": (
        "layer_norm",
        row_task(
            "m = x.mean(dim=-1, keepdim=True)\nv = ((x - m) ** 2).mean(dim=-1, keepdim=True)\n"
            "return (x - m) / torch.sqrt(v + eps) * gain + shift",
            "float32",
        ),
        "layer_norm(x, (x.shape[-1],), weight=gain, bias=shift",
        FP32,
    ),
    "layer_norm by var": (
        "layer_norm",
        row_task(
            "w = x.float()\nc = w - w.mean(-1, keepdim=True)\n"
            "n = c * torch.rsqrt(w.var(-1, keepdim=True, unbiased=False) + eps)\n"
            "return (n * gain.float() + shift.float()).to(x.dtype)"
        ),
        "layer_norm(x, (x.shape[-1],)",
        BF16_ULP,
    ),
    "silu of a half": (
        "silu",
        row_task(
            "a, b = x.float().chunk(2, dim=-1)\nh = a * torch.sigmoid(a) * b\nreturn torch.cat([h, h], -1)",
            out="float32",
        ),
        "silu(a)",
        FP32,
    ),
    "silu by an exponential": (
        "silu",
        row_task("w = x.float()\nreturn (w / (1 + torch.exp(-w))).to(x.dtype)"),
        "silu(x)",
        BF16_ULP,
    ),
    "gelu_tanh": (
        "gelu_tanh",
        row_task(
            "k = math.sqrt(2.0 / math.pi)\nw = x.to(torch.float32)\ninner = k * (w + 0.044715 * w.pow(3))\n"
            "return (0.5 * w * (1.0 + torch.tanh(inner))).to(x.dtype)"
        ),
        "gelu(x, approximate='tanh')",
        BF16_ULP,
    ),
    "softmax": (
        "softmax",
        row_task(
            "e = torch.exp(x - x.amax(-1, keepdim=True))\nreturn e / e.sum(-1, keepdim=True)", "float32"
        ),
        "torch.softmax(x, dim=-1)",
        FP32,
    ),
    "attention, causal by filling": (
        "scaled_dot_product_attention",
        attention_task(
            "s = q.shape[2]\nscores = q @ k.transpose(-1, -2) / math.sqrt(16)\n"
            "future = torch.ones(s, s, dtype=torch.bool, device=q.device).triu(1)\n"
            'scores = scores.masked_fill(future, float("-inf"))\n'
            "return torch.softmax(scores, dim=-1, dtype=torch.float32).to(v.dtype) @ v"
        ),
        "is_causal=True",
        4 * BF16_ULP,
    ),
    "attention, mask added": (
        "scaled_dot_product_attention",
        attention_task(
            "w = torch.matmul(q, k.transpose(2, 3)) * 0.25 + mask\nreturn F.softmax(w, dim=-1).matmul(v)",
            mask=True,
            dtype="float32",
        ),
        "attn_mask=mask, scale=0.25",
        FP32,
    ),
    "attention, no mask, query scaled before": (
        "scaled_dot_product_attention",
        attention_task("p = F.softmax((q * 0.5) @ k.mT, -1)\nreturn p @ v", dtype="float32"),
        "scale=1.0",
        FP32,
    ),
    "attention, chosen by a lower triangle": (
        "scaled_dot_product_attention",
        attention_task(
            "s = q.size(2)\nseen = torch.tril(torch.ones(s, s, dtype=torch.bool))\n"
            "w = torch.where(seen, q @ k.mT, -math.inf)\nreturn torch.softmax(w, -1) @ v",
            dtype="float32",
        ),
        "is_causal=True",
        FP32,
    ),
    "grouped attention by repetition": (
        "grouped_attention",
        attention_task(
            "k, v = (t.repeat_interleave(2, dim=1) for t in (k, v))\n"
            "return torch.softmax(q @ k.transpose(-1, -2) * 0.25, dim=-1) @ v",
            kv_heads=2,
            dtype="float32",
        ),
        "enable_gqa=True",
        FP32,
    ),
    "grouped attention by expansion": (
        "grouped_attention",
        attention_task(
            "b, h, s, e = q.shape\nk = k[:, :, None, :, :].expand(b, 2, 2, s, e).reshape(b, h, s, e)\n"
            "v = v[:, :, None, :, :].expand(b, 2, 2, s, e).reshape(b, h, s, e)\n"
            "return torch.softmax(q @ k.transpose(-1, -2) * 0.25, dim=-1) @ v",
            kv_heads=2,
            dtype="float32",
        ),
        "enable_gqa=True",
        FP32,
    ),
    "addmm": ("addmm", projection_task("y = x @ weight.T\nreturn stream + y"), "torch.addmm(", 2 * BF16_ULP),
    "addmm of a linear": (
        "addmm",
        projection_task("return F.linear(x, weight) + stream", "float32", "float32"),
        "torch.addmm(",
        FP32,
    ),
    "linear": ("linear", projection_task("return torch.matmul(x, weight.t())"), "linear(x, weight)", 0.0),
    "merged_projections": (
        "merged_projections",
        projection_task("a = x @ weight.T\nb = x @ weight2.T\nreturn F.silu(a) * b"),
        "torch.cat([",
        2 * BF16_ULP,
    ),
    "narrow_matmul": (
        "narrow_matmul",
        projection_task("return (x.float() @ weight.float().t()).to(torch.bfloat16)"),
        "torch.matmul(x, weight.transpose(-2, -1))",
        BF16_ULP,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rule_says_in_one_call_what_the_reference_spells_out(name: str, tmp_path: Path) -> None:
    rule, task, call, tolerance = CASES[name]
    source = alone(task, rule)
    assert call in source, source
    candidate = Proposal(rule, source).candidate(task, "library", Hardware.B200)
    for seed in range(3):
        inputs = draw(task, seed)
        kept = {
            key: value.clone() if isinstance(value, torch.Tensor) else value for key, value in inputs.items()
        }
        assert worst_error(actual(task, candidate, inputs, tmp_path), expected(task, kept)) <= tolerance
        assert all(torch.equal(v, kept[k]) for k, v in inputs.items() if isinstance(v, torch.Tensor))


def test_a_batch_of_products_and_a_residual_is_one_baddbmm(tmp_path: Path) -> None:
    inputs: dict[str, tuple[list[str] | None, str]] = {
        "a": (["n", "s", "d"], "float32"), "b": (["n", "d", "m"], "float32"), "c": (["n", "s", "m"], "float32"),
    }  # fmt: skip
    reference = HEAD + "def run(a, b, c):\n    return torch.bmm(a, b) + c\n"
    task = make_task(reference, inputs, {"y": (["n", "s", "m"], "float32")}, {"n": 3, "s": 5, "d": 8, "m": 4})
    source = alone(task, "baddbmm")
    candidate = Proposal("baddbmm", source).candidate(task, "library", Hardware.B200)
    assert "torch.baddbmm(c, a, b)" in source
    drawn = draw(task)
    assert worst_error(actual(task, candidate, drawn, tmp_path), expected(task, drawn)) <= FP32


@pytest.mark.parametrize("scales", ["tensor", "row"])
def test_a_scaled_product_of_fp8_matrices_is_one_call(scales: str, tmp_path: Path) -> None:
    shape_a, shape_b = (["1"], ["1"]) if scales == "tensor" else (["m", "1"], ["n", "1"])
    inputs: dict[str, tuple[list[str] | None, str]] = {
        "a": (["m", "k"], "float8_e4m3fn"), "b": (["n", "k"], "float8_e4m3fn"),
        "a_scale": (shape_a, "float32"), "b_scale": (shape_b, "float32"),
    }  # fmt: skip
    reference = HEAD + (
        "def run(a, b, a_scale, b_scale):\n    wide_a = a.float() * a_scale\n    wide_b = b.float() * b_scale\n"
        "    return (wide_a @ wide_b.t()).to(torch.bfloat16)\n"
    )
    task = make_task(reference, inputs, {"y": (["m", "n"], "bfloat16")}, {"m": 32, "n": 16, "k": 64})
    source = alone(task, "scaled_mm")
    candidate = Proposal("scaled_mm", source).candidate(task, "library", Hardware.B200)
    assert "torch._scaled_mm(" in source
    drawn = draw(task)
    assert worst_error(actual(task, candidate, drawn, tmp_path), expected(task, drawn)) <= 2 * BF16_ULP


NO_MATCH = {
    "a mean over another dimension": row_task("return x * torch.rsqrt(x.pow(2).mean(0, keepdim=True) + eps)"),
    "a mean of another tensor": row_task(
        "return x * torch.rsqrt((x + shift).pow(2).mean(-1, keepdim=True) + eps)"
    ),
    "a variance with Bessel's correction": row_task(
        "return (x - x.mean(-1, keepdim=True)) * torch.rsqrt(x.var(-1, keepdim=True) + eps)"
    ),
    "a value that changes in between": row_task(
        "w = x.float()\nr = torch.rsqrt(w.pow(2).mean(-1, keepdim=True) + eps)\nw.add_(1.0)\n"
        "return (w * r).to(x.dtype)"
    ),
    "a softmax over another dimension": attention_task("return torch.softmax(q @ k.mT, dim=-2) @ v"),
    "a sum that broadcasts": projection_task("return x @ weight.T + stream[:, :1]"),
    "attention whose weights are used again": attention_task(
        "w = torch.softmax(q @ k.transpose(-1, -2), -1)\nw[..., 0] = 0.0\nreturn w @ v"
    ),
}


@pytest.mark.parametrize("name", NO_MATCH)
def test_what_only_looks_alike_is_left_alone(name: str) -> None:
    applied = {rule.name for rules, _ in rewritings(NO_MATCH[name]) for rule in rules}
    assert applied <= {"linear"}


def alone(task: Task, rule: str) -> str:
    sources = [source for rules, source in rewritings(task) if [r.name for r in rules] == [rule]]
    assert sources, f"{rule} does not match"
    return sources[0]


def test_every_rule_has_a_case() -> None:
    tried = {rule for rule, *_ in CASES.values()} | {"baddbmm", "scaled_mm"}
    assert tried == set(RULES)


def test_the_triangle_of_a_rectangle_stays_a_mask(tmp_path: Path) -> None:
    """Libraries disagree on which corner of a rectangle causality starts from."""
    inputs: dict[str, tuple[list[str] | None, str]] = {
        "q": (["b", "h", "s", "e"], "float32"),
        "k": (["b", "h", "t", "e"], "float32"),
        "v": (["b", "h", "t", "e"], "float32"),
    }
    reference = HEAD + (
        "def run(q, k, v):\n    future = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).triu(1)\n"
        "    return torch.softmax((q @ k.mT).masked_fill(future, -math.inf), dim=-1) @ v\n"
    )
    task = make_task(
        reference,
        inputs,
        {"y": (["b", "h", "s", "e"], "float32")},
        {"b": 1, "s": 3, "t": 8},
        {"h": 2, "e": 4},
    )
    source = alone(task, "scaled_dot_product_attention")
    assert "attn_mask=~future" in source and "is_causal" not in source
    candidate = Proposal("s", source).candidate(task, "library", Hardware.B200)
    drawn = draw(task)
    assert worst_error(actual(task, candidate, drawn, tmp_path), expected(task, drawn)) <= FP32
