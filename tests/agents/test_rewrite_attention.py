"""Attention found in traced programs: what becomes the library's call, what does not, and that numbers agree."""

import pytest
import torch

from agents.rewrite.agent import RewriteAgent
from tasks.task import Task
from tests.agents.ruled import elsewhere, outputs_of, ruled, task_of
from tests.agents.small import draw, expected

FOUR = ["batch", "heads", "length", "dim"]
ROWS_FIRST = ["batch", "length", "heads", "dim"]
AXES, CONSTS = {"batch": 2, "length": 6}, {"heads": 4, "few": 2, "dim": 8, "one": 1}


def _task(
    body: str, order: list[str] = FOUR, dtype: str = "float32", keys: list[str] | None = None, **more: object
) -> Task:
    keys = keys or order
    inputs = {"q": (order, dtype), "k": (keys, dtype), "v": (keys, dtype), **more}
    return task_of(body, inputs, {"o": (order, dtype)}, AXES, CONSTS)  # type: ignore[arg-type]


FEW = ["batch", "few", "length", "dim"]
PAST = "n = q.shape[2]\npos = torch.arange(n, device=q.device)\n"
SPELLINGS = {
    "products": (_task("return torch.softmax(q @ k.transpose(-1, -2) / 8 ** 0.5, -1) @ v"), "scale=0.35355"),
    "einsum over rows first": (
        _task(
            "p = torch.einsum('bqhd,bkhd->bhqk', q, k) * 0.3\n"
            "return torch.einsum('bhqk,bkhd->bqhd', p.softmax(-1), v)", ROWS_FIRST
        ),
        "scale=0.3",
    ),
    "batches of products": (
        _task(
            "b, h, n, d = q.shape\nq3, k3, v3 = (t.reshape(b * h, n, d) for t in (q * 0.5, k, v))\n"
            "s = torch.bmm(q3, k3.transpose(1, 2)).view(b, h, n, n)\n"
            "s = s.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), float('-inf'))\n"
            "return torch.bmm(s.softmax(-1).view(b * h, n, n), v3).view(b, h, n, d)"
        ),
        "is_causal=True, scale=0.5",
    ),
    "softmax spelled out": (
        _task("s = q @ k.mT\ne = torch.exp(s - s.amax(-1, keepdim=True))\nreturn (e / e.sum(-1, keepdim=True)) @ v"),
        "scale=1.0",
    ),
    "a causal mask by positions": (
        _task(
            PAST + "low = torch.full((), float('-inf'))\n"
            "return torch.where(pos[None, :] <= pos[:, None], q @ k.mT, low).softmax(-1) @ v"
        ),
        "is_causal=True",
    ),
    "a causal mask that is added": (
        _task(
            PAST + "m = torch.triu(torch.full((n, n), float('-inf')), 1)\n"
            "return torch.softmax(q @ k.mT * 0.2 + m, -1) @ v"
        ),
        "is_causal=True",
    ),
    "a window": (
        _task(
            PAST + "far = (pos[:, None] - pos[None, :]).abs() > 2\n"
            "return (q @ k.mT).masked_fill(far, -1e30).softmax(-1) @ v"
        ),
        "attn_mask=seen",
    ),
    "slopes and a causal mask": (
        _task(
            PAST + "bias = slopes[:, None, None] * (pos[None, :] - pos[:, None]).float()\n"
            "s = (q @ k.mT + bias) * 0.5\n"
            "return s.masked_fill(pos[None, :] > pos[:, None], float('-inf')).softmax(-1) @ v",
            slopes=(["heads"], "float32"),
        ),
        "attn_mask=",
    ),
    "a mask among the inputs": (
        _task("return torch.softmax(mask + q @ k.mT, -1) @ v", mask=(["batch", "one", "length", "length"], "float32")),
        "attn_mask=mask",
    ),
    "groups of heads": (
        _task("k, v = (t.repeat_interleave(2, 1) for t in (k, v))\nreturn torch.softmax(q @ k.mT, -1) @ v", keys=FEW),
        "scale=1.0)",
    ),
    "groups as a dimension": (
        _task(
            "b, h, n, d = q.shape\ng = q.view(b, 2, 2, n, d)\ns = torch.einsum('bghqd,bgkd->bghqk', g, k)\n"
            "return torch.einsum('bghqk,bgkd->bghqd', s.softmax(-1), v).reshape(b, h, n, d)", keys=FEW
        ),
        "scale=1.0)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_becomes_one_call(name: str) -> None:
    task, wanted = SPELLINGS[name]
    source = ruled(task, "fused_attention")
    assert source is not None and wanted in source and "softmax" not in source and "exp(" not in source
    for other, seed in ((task, 0), (elsewhere(task, {"length": 9, "batch": 3}), 1)):
        inputs = draw(other, seed)
        torch.testing.assert_close(outputs_of(source, inputs), expected(other, inputs), rtol=1e-5, atol=2e-6)


HALF = "s = torch.matmul(q, k.transpose(-1, -2)).float() * 0.3\n"
REPEATED = (
    "k, v = (t[:, :, None].expand(-1, -1, 2, -1, -1).reshape(q.shape) for t in (k, v))\n" + HALF
    + "n = q.shape[2]\ns = s.masked_fill(torch.ones(n, n).tril() == 0, float('-inf'))\n"
    + "return s.softmax(-1).to(q.dtype) @ v"
)  # fmt: skip


def test_the_library_repeats_heads_where_it_is_fast_for_it() -> None:
    task = _task(REPEATED, dtype="bfloat16", keys=FEW)
    source = ruled(task, "fused_attention")
    assert source is not None and "(q, k, v, is_causal=True, scale=0.3, enable_gqa=True)" in source
    inputs = draw(task)
    torch.testing.assert_close(outputs_of(source, inputs), expected(task, inputs), rtol=0.02, atol=0.02)


WIDE = "s = q.float() @ k.float().mT\nreturn (s.softmax(-1) @ v.float()).to(q.dtype)"


def test_widened_operands_are_narrowed_only_by_the_rule_that_says_so() -> None:
    task = _task(WIDE, dtype="float16")
    inputs = draw(task)
    sources = [ruled(task, rule) for rule in ("fused_attention", "narrow_attention")]
    assert sources[0] is not None and "_cast" not in sources[0] and ".to(torch.float32)" in sources[0]
    assert sources[1] is not None and ".to(" not in sources[1]
    for source, tolerance in zip(sources, (1e-3, 5e-3), strict=True):
        assert source is not None
        torch.testing.assert_close(
            outputs_of(source, inputs), expected(task, inputs), rtol=tolerance, atol=tolerance
        )


REFUSED = {
    "softcap": "return torch.softmax(torch.tanh(q @ k.mT / 5) * 5, -1) @ v",
    "another axis": "return torch.softmax(q @ k.mT, -2) @ v",
    "weights by keys": "return torch.softmax(q @ k.mT, -1).mT @ v",
    "no softmax": "return torch.sigmoid(q @ k.mT) @ v",
    "a mask that leaves weight": "return torch.softmax((q @ k.mT).masked_fill(q[..., :1] > 0, -3.0), -1) @ v",
    "a scale that differs by rows": "return torch.softmax(q @ k.mT * q[..., :1], -1) @ v",
    "a negative scale of a mask": "return torch.softmax((q @ k.mT).masked_fill(q[..., :1] > 0, -1e30) * -1, -1) @ v",
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_attention_is_left_alone(name: str) -> None:
    task = _task(REFUSED[name])
    assert ruled(task, "fused_attention") is None and ruled(task, "narrow_attention") is None


def test_weights_that_are_returned_are_not_hidden_in_a_call() -> None:
    body = "p = torch.softmax(q @ k.mT, -1)\nreturn p @ v, p"
    inputs = {name: (FOUR, "float32") for name in "qkv"}
    outputs = {"o": (FOUR, "float32"), "p": (["batch", "heads", "length", "length"], "float32")}
    assert ruled(task_of(body, inputs, outputs, AXES, CONSTS), "fused_attention") is None


def test_a_window_wider_than_the_smallest_workload_is_not_taken_for_causal() -> None:
    body = (
        PAST
        + "d = pos[:, None] - pos[None, :]\ns = torch.where((d >= 0) & (d < 7), q @ k.mT, -1e30)\nreturn s.softmax(-1) @ v"
    )
    source = ruled(_task(body), "fused_attention")
    assert source is not None and "is_causal" not in source and "attn_mask=" in source


def test_the_agent_tries_the_rule_first_and_says_so() -> None:
    agent = RewriteAgent(SPELLINGS["slopes and a causal mask"][0], 0)
    strategies = [candidate.strategy for candidate in iter(agent.ask, None)]
    assert "fused_attention (reassociated)" in strategies[0]
    assert any("fused_attention" not in strategy for strategy in strategies)
