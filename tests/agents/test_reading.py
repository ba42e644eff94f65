"""Reading references: straight-line code that computes the same, one spelling an idea, and what is known of values."""

import ast
from typing import Any

import pytest
import torch

from agents.library.source import module_source
from agents.reading.canonical import canonical
from agents.reading.kinds import Kind, Scalar
from agents.reading.pattern import Pattern
from agents.reading.reading import Reading
from agents.reading.straighten import NotStraight, straighten
from agents.reading.term import Term
from tasks.task import Task
from tests.agents.small import as_list, draw, expected, make_task, shipped


def term(text: str) -> Term:
    return canonical(ast.parse(text, mode="eval").body)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x.float()", "x.to(torch.float32)"),
        ("x.to(dtype=torch.bfloat16)", "x.bfloat16()"),
        ("x.square()", "torch.pow(x, 2)"),
        ("x * x", "x ** 2"),
        ("x.mean(-1, True)", "torch.mean(x, dim=(-1,), keepdim=True)"),
        ("x.mean(axis=-1, keepdims=True)", "x.mean(-1, keepdim=True)"),
        ("F.softmax(x, dim=-1)", "x.softmax(-1)"),
        ("a @ b", "torch.bmm(a, b)"),
        ("w.t()", "w.mT"),
        ("x.view(2, 3)", "torch.reshape(x, (2, 3))"),
        ("x.size(0)", "x.shape[0]"),
        ("x.var(-1, unbiased=False)", "torch.var(x, dim=-1, correction=0)"),
        ("torch.nn.functional.silu(x)", "F.silu(x)"),
        ("-(1.0)", "-1.0"),
    ],
)
def test_two_spellings_are_one_term(first: str, second: str) -> None:
    assert term(first) == term(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x.mean(-1)", "x.mean(-1, keepdim=True)"),
        ("x.var(-1)", "x.var(-1, unbiased=False)"),
        ("x.half()", "x.float()"),
        ("x - y", "y - x"),
        ("x.mean(-1, dtype=torch.float32)", "x.mean(-1)"),
        ("x[0]", "x[1]"),
        ("F.gelu(x)", "F.gelu(x, approximate='tanh')"),
    ],
)
def test_what_computes_something_else_is_another_term(first: str, second: str) -> None:
    assert term(first) != term(second)


SMALL = {
    "l1_rmsnorm": ({}, {"num_rows": 3, "width": 10}),
    "l1_swiglu": ({}, {"num_rows": 3, "width": 10}),
    "l2_mlp_block": ({"hidden_size": 32, "inner_size": 48}, {"num_tokens": 4}),
    "l2_decoder": (
        {"hidden_size": 128, "query_width": 128, "kv_width": 64, "inner_size": 32}, {"batch_size": 2, "seq_len": 5},
    ),
    "fi_fused_add_rmsnorm": ({}, {"num_rows": 3, "width": 10}),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL)
def test_straightened_references_give_the_same_bits(name: str) -> None:
    task = shipped(name, *SMALL[name])
    assert_same_bits(task)


def assert_same_bits(task: Task) -> None:
    namespace: dict[str, Any] = {}
    exec(module_source(straighten(task.definition.reference), "straight"), namespace)
    inputs = draw(task)
    for a, b in zip(as_list(namespace["run"](*inputs.values())), expected(task, draw(task)), strict=True):
        assert torch.equal(a, b)


def task_of(body: str, before: str = "") -> Task:
    reference = f"import torch\n{before}\ndef run(x, y):\n" + "".join(
        f"    {line}\n" for line in body.splitlines()
    )
    shapes: Any = {"x": (["n", "d"], "float32"), "y": (["n", "d"], "float32")}
    return make_task(reference, shapes, {"z": (["n", "d"], "float32")}, {"n": 3}, {"d": 4})


@pytest.mark.parametrize(
    "body",
    [
        "x = x + y\ny = x * y\nx, y = y, x\nreturn x - 2 * y",
        "def f(t, scale=2.0):\n    t = t * scale\n    return t + y\nx = f(x)\ny = f(y, scale=3.0)\nreturn f(f(x)) - y",
        "def f(t):\n    u = t + 1\n    return u * u\nu = f(x)\nreturn u - f(t=y)",
        "a = b = x + 1\nb = b * 2\nreturn a + b",
        "with torch.no_grad():\n    x = x + 1\nreturn x * y",
        "a, b = (t.abs() + 1 for t in (x, y))\nreturn a / b",
        "total = torch.zeros_like(x)\nfor i in range(3):\n    total = total + x * i\n    x = x + y\nreturn total + x",
        "z = x + 1\nw = z * 2\nz.add_(1.0)\nreturn z + w",
        "z = x.clone()\nz[0] = y[0]\nreturn z * 2",
        "z = x.clone()\nz += y\nreturn z + SCALE",
        "rows = [r * 2 for r in x]\nr = y\nreturn torch.stack(rows) + r",
        "def helper(t):\n    return t * SCALE\nSCALE_2 = 5\nreturn twice(helper(x)) + SCALE_2",
        "n = x.shape[0] if x.shape[0] > 2 else 1\nreturn twice(x * n)",
    ],
)
def test_any_list_of_steps_keeps_its_bits(body: str) -> None:
    assert_same_bits(
        task_of(body, before="SCALE = 3.0\ndef twice(t):\n    s = 2\n    return t * s * SCALE\n")
    )


@pytest.mark.parametrize(
    "body",
    [
        "if x.shape[0] > 1:\n    return x\nreturn y",
        "def f(t):\n    for _ in range(2):\n        t = t + 1\n    return t\nreturn f(x)",
    ],
)
def test_what_branches_is_refused(body: str) -> None:
    with pytest.raises(NotStraight):
        straighten(task_of(body).definition.reference)


def read(body: str) -> Reading:
    return Reading(task_of(body).definition)


def test_equal_computations_have_equal_numbers_whatever_they_are_called() -> None:
    reading = read("a = x.float() + y\nb = x\nc = b.to(torch.float32) + y\nd = y + a\nreturn a + c + d")
    assert reading.same(term("a"), term("c"))
    assert not reading.same(term("a"), term("d"))


def test_a_value_that_changes_is_not_looked_through() -> None:
    reading = read("a = x + 1\nb = a * 2\na.mul_(2)\nreturn b")
    assert reading.look_through(term("b")) == term("b")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("x", Kind("float32", ("n", 4))),
        ("x.bfloat16() + y", Kind("float32", ("n", 4))),
        ("x.bfloat16() * 2.0", Kind("bfloat16", ("n", 4))),
        ("x @ y.T", Kind("float32", ("n", "n"))),
        ("x.mean(-1, keepdim=True)", Kind("float32", ("n", 1))),
        ("x[:, None, :].half()", Kind("float16", ("n", 1, 4))),
        ("x.view(x.shape[0], 2, 2).transpose(0, 1)", Kind("float32", (2, "n", 2))),
        ("torch.cat([x, y], dim=-1)", Kind("float32", ("n", 8))),
        ("x.unsqueeze(-1)", Kind("float32", ("n", 4, 1))),
        ("x.shape[1] // 2", Scalar(2)),
        ("unknown(x)", None),
    ],
)
def test_types_and_sizes_are_known_without_running(text: str, kind: Kind | Scalar | None) -> None:
    assert read("return x").kind(term(text)) == kind


def test_a_hole_that_occurs_twice_must_hold_the_same() -> None:
    reading, pattern = read("s = torch.sigmoid(x)\nreturn x * s"), Pattern("_a * torch.sigmoid(_a)")
    assert pattern.match(term("x * s"), reading) is not None
    assert pattern.match(term("s * x"), reading) is not None
    assert pattern.match(term("y * s"), reading) is None
