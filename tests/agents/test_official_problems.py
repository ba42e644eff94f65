"""Agents on the visible official problems, which are read where `$SOL_EXECBENCH_DATA` says."""

import os
from pathlib import Path

import pytest

from agents import AGENTS, create
from agents.library import LibraryAgent
from tasks.loading import load
from tests.agents.small import actual, draw, expected, worst_error

pytestmark = pytest.mark.skipif("SOL_EXECBENCH_DATA" not in os.environ, reason="needs SOL_EXECBENCH_DATA")


def official_names() -> list[str]:
    root = Path(os.environ.get("SOL_EXECBENCH_DATA", "/nonexistent"))
    return sorted(str(path.parent.relative_to(root)) for path in root.glob("*/*/definition.json"))


@pytest.mark.parametrize("name", official_names())
def test_no_agent_stumbles(name: str) -> None:
    task = load(name)
    for agent in AGENTS:
        candidate = create(agent, task, 0).ask()
        if agent in ("reference", "compile"):
            assert candidate is not None


RULES_THAT_APPLY = {
    "FlashInfer-Bench/001": {"rms_norm"},
    "FlashInfer-Bench/009": {"linear"},
    "L1/030": {"addmm", "linear"},
    "L1/069": {"rms_norm"},
    "L2/031": {"silu"},
}


@pytest.mark.parametrize("number", RULES_THAT_APPLY)
def test_rewritten_official_references_compute_the_same(number: str, tmp_path: Path) -> None:
    (name,) = [name for name in official_names() if name.startswith(number)]
    task = load(name)
    axes = dict.fromkeys(task.definition.var_axes, 3)
    task = task.model_copy(update={"workloads": (task.workloads[0].model_copy(update={"axes": axes}),)})
    inputs, applied = draw(task), set()
    agent = LibraryAgent(task, 0)
    while (candidate := agent.ask()) is not None:
        applied |= {rule for rule in RULES_THAT_APPLY[number] if rule in candidate.strategy}
        assert worst_error(actual(task, candidate, inputs, tmp_path), expected(task, inputs)) < 0.01
    assert applied == RULES_THAT_APPLY[number]
