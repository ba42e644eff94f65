"""The reference as a candidate: the same code, without what only makes inputs."""

from pathlib import Path

import torch

from agents import create
from agents.reading.reachable import reachable_source
from tasks.loading import load
from tests.agents.small import actual, draw, expected, shipped

MODULE = '''"""Doc."""
import torch

SCALE = 2.0  # kept


def only_for_inputs(n):
    return torch.randn(n)


def make_inputs(axes_and_scalars, device):
    return {"x": only_for_inputs(3)}


class Unused:
    pass


def twice(x):
    return x * SCALE


@torch.no_grad()
def run(x):
    # a comment that stays
    return twice(x)
'''


def test_what_run_cannot_reach_is_left_out_and_the_rest_kept_word_for_word() -> None:
    source = reachable_source(MODULE, "run")
    for gone in ("make_inputs", "only_for_inputs", "Unused"):
        assert gone not in source
    for kept in (
        '"""Doc."""',
        "SCALE = 2.0  # kept",
        "def twice",
        "@torch.no_grad()\ndef run",
        "# a comment that stays",
    ):
        assert kept in source


def test_a_module_that_looks_names_up_is_kept_whole() -> None:
    source = MODULE.replace("return twice(x)", 'return globals()["twice"](x)')
    assert reachable_source(source, "run") == source


def test_a_function_that_a_top_level_statement_calls_is_kept() -> None:
    assert "def only_for_inputs" in reachable_source(MODULE + "\nTABLE = only_for_inputs(4)\n", "run")


def test_the_reference_is_proposed_once_and_returns_what_it_always_did(tmp_path: Path) -> None:
    task = shipped("l1_swiglu", {}, {"num_rows": 3, "width": 50})
    agent = create("reference", task, 0)
    candidate = agent.ask()
    assert candidate is not None and agent.ask() is None
    assert not candidate.solution.spec.destination_passing_style
    inputs = draw(task)
    for a, w in zip(actual(task, candidate, inputs, tmp_path), expected(task, inputs), strict=True):
        assert torch.equal(a, w)


def test_a_task_with_an_input_generator_gives_a_candidate_without_it() -> None:
    candidate = create("reference", load("l2_moe_backward"), 0).ask()
    assert candidate is not None
    source = candidate.solution.sources[0].content
    assert "def expert_backward" in source and "make_inputs" not in source
