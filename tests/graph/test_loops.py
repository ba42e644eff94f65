"""Long loops are run in part, and what is left out is counted exactly."""

from __future__ import annotations

import ast
import time

import pytest

from tasks.graph.follow import follow
from tasks.graph.loop_syntax import rewrite_loops
from tasks.graph.steps import Step
from tests.graph.references import reference

X = {"x": (("t", "d"), "float32")}
EVEN = """def run(x):
    y = torch.zeros_like(x)
    for i in range(x.shape[0]):
        a = torch.exp(x[i]) + 1
        y[i] = torch.sqrt(a * a) - x[i]
    return y
"""
GROWING = """def run(x):
    y = torch.zeros(x.shape[0], device=x.device)
    for i in range(x.shape[0]):
        y[i] = (x[: i + 1] * 2).exp().log().sqrt().sum()
    return y
"""
APPENDING = """def run(x):
    state, outs = x[0] * 0, []
    for i in range(x.shape[0]):
        state = torch.tanh(state * 0.5 + x[i])
        outs.append((state * state).sum())
    return torch.stack(outs)
"""
TURNING = """def run(x):
    y = torch.zeros_like(x)
    for i in range(x.shape[0]):
        if i < 37 or i > 333:
            y[i] = torch.exp(x[i]).sin().cos()
        else:
            y[i] = x[: max(5, i - 200)].sum(dim=0).tanh()
    return y
"""
BY_LIST = """def run(x):
    y, sizes = torch.zeros_like(x), [1 + (7 * i * i) % 5 for i in range(x.shape[0])]
    for i in range(x.shape[0]):
        y[i] = x[: sizes[i]].exp().log().sqrt().sum(dim=0)
    return y
"""


def totals(steps: list[Step]) -> tuple[int, int, int]:
    return (
        sum(step.times * sum(step.work.reads) for step in steps),
        sum(step.times * step.work.written for step in steps),
        sum(step.times * step.work.vector for step in steps),
    )


@pytest.mark.parametrize(
    "body", [EVEN, GROWING, APPENDING, TURNING], ids=["even", "growing", "append", "turning"]
)
def test_folded_loops_count_as_full_ones(body: str) -> None:
    definition, workload = reference("loop", {"t": 400, "d": 8}, X, ["y"], body)
    deadline = time.thread_time() + 20
    folded, out = follow(definition, workload, (), deadline)
    full, whole = follow(definition, workload, (), deadline, folds=False)
    assert len(folded.steps) < len(full.steps) / 3
    assert totals(folded.steps) == totals(full.steps)
    assert out.shape == whole.shape


def test_a_loop_over_a_list_of_any_sizes_is_run_in_full() -> None:
    definition, workload = reference("loop", {"t": 400, "d": 8}, X, ["y"], BY_LIST)
    folded, _ = follow(definition, workload, (), time.thread_time() + 20)
    assert all(step.times == 1 for step in folded.steps)


@pytest.mark.parametrize(
    ("body", "kept"),
    [
        ("for i in range(9):\n  y[i] = x[i]", 1),
        ("for i in range(9):\n  if x: break\n  y[i] = x[i]", 0),
        ("for i in range(9):\n  return x", 0),
        ("for i in range(9):\n  seen.add(i)", 0),
        ("for i in range(9):\n  z = x[i]\nreturn z", 0),
        ("for i in range(9):\n  z = x[i]\nz = 1\nreturn z", 1),
        ("for i in range(9):\n  for j in range(9):\n    if x: break\n    y[i] = j", 1),
        ("for i, v in enumerate(x):\n  y[i] = v", 0),
    ],
)
def test_which_loops_may_be_run_in_part(body: str, kept: int) -> None:
    indented = "\n".join(f"  {line}" for line in body.splitlines())
    assert len(rewrite_loops(ast.parse(f"def run(x, y):\n{indented}\n"))) == kept
