"""The library agent on the shipped tasks: which rules apply, that numbers stay, and what it learns."""

from pathlib import Path

import pytest

from agents.library import LibraryAgent
from agents.library.agent import rewritings
from agents.testing import accepted, rejected
from guard.verdict import ReasonCode
from tests.agents.small import actual, draw, expected, shipped, worst_error

SMALL = {
    "l1_rmsnorm": ({}, {"num_rows": 3, "width": 100}, {"rms_norm"}),
    "l1_swiglu": ({}, {"num_rows": 3, "width": 50}, {"silu"}),
    "l1_bf16_gemm": ({}, None, {"linear"}),
    "l1_attention_projection_residual": (
        {"hidden_size": 96, "heads_width": 64}, {"batch_size": 2, "seq_len": 5}, {"addmm", "linear"},
    ),
    "l2_decoder": (
        {"hidden_size": 128, "query_width": 128, "kv_width": 64, "inner_size": 192},
        {"batch_size": 2, "seq_len": 9},
        {"rms_norm", "grouped_attention", "scaled_dot_product_attention", "addmm", "merged_projections", "linear"},
    ),
    "l2_mlp_block": (
        {"hidden_size": 128, "inner_size": 192}, {"num_tokens": 7}, {"rms_norm", "addmm", "merged_projections", "linear"},
    ),
    "fi_fused_add_rmsnorm": ({}, {"num_rows": 3, "width": 100}, {"rms_norm"}),
}  # fmt: skip
"""Constant axes made small, variable axes, and the rules that must apply."""


@pytest.mark.parametrize("name", [name for name in SMALL if SMALL[name][1] is not None])
def test_rewritten_shipped_tasks_compute_the_same(name: str, tmp_path: Path) -> None:
    consts, axes, rules = SMALL[name]
    task = shipped(name, consts, axes or {})
    inputs = draw(task)
    wanted = expected(task, inputs)
    found = set()
    agent = LibraryAgent(task, 0)
    while (candidate := agent.ask()) is not None:
        assert worst_error(actual(task, candidate, inputs, tmp_path), wanted) < 0.03, candidate.strategy
    for applied, _ in rewritings(task):
        found |= {rule.name for rule in applied}
    assert found == rules


def test_the_strategy_names_the_rules_and_what_they_do_to_the_numbers() -> None:
    candidate = LibraryAgent(shipped("l1_rmsnorm", {}, {"num_rows": 3, "width": 100}), 0).ask()
    assert candidate is not None
    assert candidate.strategy == "library calls by the rules rms_norm (reassociated)"


def test_a_gamble_is_not_part_of_the_first_proposal() -> None:
    task = shipped("l2_mlp_block", {}, {"num_tokens": 7})
    agent = LibraryAgent(task, 0)
    first, second = agent.ask(), agent.ask()
    assert first is not None and second is not None
    assert "merged_projections" not in first.strategy
    assert "merged_projections" in second.strategy


def test_a_rule_that_is_wrong_by_itself_is_given_up() -> None:
    task = shipped("l2_mlp_block", {}, {"num_tokens": 7})
    agent = LibraryAgent(task, 0)
    later = []
    was_rejected = False
    while (candidate := agent.ask()) is not None:
        if "rules addmm (" in candidate.strategy:
            agent.tell(candidate, rejected(task, candidate, ReasonCode.NUMERICAL))
            was_rejected = True
        else:
            agent.tell(candidate, accepted(task, candidate))
            if was_rejected:
                later.append(candidate.strategy)
    assert later and not [strategy for strategy in later if "addmm" in strategy]


def test_a_reference_that_is_no_list_of_steps_gets_no_proposal() -> None:
    task = shipped("l1_rmsnorm", {}, {"num_rows": 3, "width": 100})
    body = "if rows.shape[0] > 3:\n        return rows\n    return rows * 2"
    reference = f"import torch\ndef run(rows, gain, eps):\n    {body}\n"
    definition = task.definition.model_copy(update={"reference": reference})
    assert LibraryAgent(task.model_copy(update={"definition": definition}), 0).ask() is None
