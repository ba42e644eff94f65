"""Gradients of attention found in traced programs: the library's backward pass gives what the products gave."""

import pytest
import torch

from tasks.task import Task
from tests.agents.ruled import elsewhere, outputs_of, ruled, task_of
from tests.agents.small import draw, expected

FOUR = ["batch", "heads", "length", "dim"]
ROWS_FIRST = ["batch", "length", "heads", "dim"]
AXES, CONSTS = {"batch": 2, "length": 6}, {"heads": 3, "dim": 8}
CAUSAL = "n = q.shape[2]\nfuture = torch.ones(n, n, dtype=torch.bool).triu(1)\n"
PLAIN = (
    "s = torch.matmul(q, k.transpose(-1, -2)) * 0.3\n" + CAUSAL
    + "p = torch.softmax(s.masked_fill(future, float('-inf')), -1)\n"
    + "gv = p.transpose(-1, -2) @ go\ngp = go @ v.transpose(-1, -2)\n"
)  # fmt: skip
BACK = "gs = p * (gp - (gp * p).sum(-1, keepdim=True)) * 0.3\nreturn gs @ k, gs.mT @ q, gv"


def _task(body: str, dtype: str = "float32", order: list[str] = FOUR) -> Task:
    inputs = {name: (order, dtype) for name in ("q", "k", "v", "go")}
    outputs = {name: (order, dtype) for name in ("gq", "gk", "gv")}
    return task_of(body, inputs, outputs, AXES, CONSTS)


SPELLINGS = {
    "products": _task(PLAIN + BACK),
    "zeros where it was hidden, scaled at the end": _task(
        PLAIN + "gs = p * (gp - (p * gp).sum(-1, keepdim=True))\ngs = gs.masked_fill(future, 0.0)\n"
        "return gs @ k * 0.3, gs.mT @ (q * 0.3), gv"
    ),
    "rows of the output": _task(
        PLAIN + "o = p @ v\ndelta = (o * go).sum(-1, keepdim=True)\ngs = p * (gp - delta) * 0.3\n"
        "return gs @ k, gs.mT @ q, gv"
    ),
    "einsum over rows first": _task(
        "q = q * 0.25\np = torch.einsum('bqhd,bkhd->bhqk', q, k).softmax(-1)\n"
        "gv = torch.einsum('bhqk,bqhd->bkhd', p, go)\ngp = torch.einsum('bqhd,bkhd->bhqk', go, v)\n"
        "gs = p * (gp - (gp * p).sum(-1, keepdim=True))\n"
        "return torch.einsum('bhqk,bkhd->bqhd', gs, k) * 0.25, torch.einsum('bhqk,bqhd->bkhd', gs, q), gv",
        order=ROWS_FIRST,
    ),
    "a gradient of the scaled queries": _task(
        PLAIN + "gs = p * (gp - (gp * p).sum(-1, keepdim=True))\nreturn gs @ k, gs.mT @ q, gv * 2.0"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_every_spelling_becomes_one_backward_pass(name: str) -> None:
    task = SPELLINGS[name]
    source = ruled(task, "attention_gradients")
    assert source is not None and "softmax" not in source and "matmul" not in source
    for other, seed in ((task, 0), (elsewhere(task, {"length": 9}), 1)):
        inputs = draw(other, seed)
        torch.testing.assert_close(outputs_of(source, inputs), expected(other, inputs), rtol=1e-4, atol=1e-5)


def test_widened_operands_are_narrowed_only_by_the_rule_that_says_so() -> None:
    body = (
        "q, k, v, go = (t.float() for t in (q, k, v, go))\n" + PLAIN.replace("p.transpose", "p.transpose")
        + BACK.replace("return gs @ k, gs.mT @ q, gv", "return (gs @ k).half(), (gs.mT @ q).half(), gv.half()")
    )  # fmt: skip
    task = _task(body, "float16")
    inputs = draw(task)
    wide, narrow = (ruled(task, rule) for rule in ("attention_gradients", "narrow_attention_gradients"))
    assert wide is not None and "is_causal=True" in wide and ".to(torch.float32)" in wide
    assert narrow is not None and ".to(" not in narrow
    torch.testing.assert_close(outputs_of(wide, inputs), expected(task, inputs), rtol=2e-3, atol=2e-3)
    torch.testing.assert_close(outputs_of(narrow, inputs), expected(task, inputs), rtol=2e-2, atol=1e-2)


REFUSED = {
    "another derivative": PLAIN + "gs = p * gp * 0.3\nreturn gs @ k, gs.mT @ q, gv",
    "the sum of something else": PLAIN
    + "gs = p * (gp - (gp * gp).sum(-1, keepdim=True))\nreturn gs @ k, gs.mT @ q, gv",
    "the wrong side": PLAIN + BACK.replace("gs @ k, gs.mT @ q", "gs @ q, gs.mT @ k"),
    "a softcap": PLAIN.replace("* 0.3\n", "* 0.3\ns = torch.tanh(s)\n", 1) + BACK,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_backward_pass_is_left_alone(name: str) -> None:
    assert ruled(_task(REFUSED[name]), "attention_gradients") is None
