"""Every agent keeps the contract that foreign agents can inherit too."""

import subprocess
import sys

import pytest

from agents import AGENTS, Agent, create
from agents.testing import AgentContract
from tasks.loading import load
from tasks.task import Task


class Shipped(AgentContract):
    agent: str

    def task(self) -> Task:
        return load("l2_mlp_block")

    def make(self) -> Agent:
        return create(self.agent, self.task(), 3)


class TestReference(Shipped):
    agent = "reference"


class TestCompile(Shipped):
    agent = "compile"


class TestLibrary(Shipped):
    agent = "library"


class TestRewrite(Shipped):
    agent = "rewrite"

    def task(self) -> Task:
        return load("l1_swiglu")


class TestTemplate(Shipped):
    agent = "template"

    def task(self) -> Task:
        return load("fi_fused_add_rmsnorm")


def test_an_unknown_agent_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(
        ValueError, match=r"'referense'.*compile, cuda_graph, library, reference, rewrite, template"
    ):
        create("referense", load("l1_rmsnorm"), 0)


def test_the_target_is_the_hardware_that_solutions_name() -> None:
    for name in AGENTS.keys() - {"cuda_graph"}:  # which is silent before a GPU's verdict
        candidate = create(name, load("l1_rmsnorm"), 0, target="LOCAL").ask()
        assert candidate is not None
        assert candidate.solution.spec.target_hardware == ("LOCAL",)


def test_agents_are_imported_without_torch_numpy_or_optuna() -> None:
    program = (
        "import agents, sys; "
        "print([m for m in ('torch', 'numpy', 'optuna', 'scipy', 'triton', 'jinja2') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
