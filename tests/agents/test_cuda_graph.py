"""Launches recorded once: proposed where a verdict shows that the GPU waits, and right for every call."""

from pathlib import Path

import pytest
import torch

from agents import Agent, create
from agents.proposal import Proposal
from agents.testing import AgentContract, accepted, rejected
from guard.verdict import ReasonCode, Verdict
from tasks.candidate import Candidate
from tasks.loading import load
from tasks.solution import Hardware, Language
from tasks.task import Task
from tests.agents.small import actual, draw, expected, imported

ROW, MANY_ROWS = 4, 0
"""Workloads of l1_rmsnorm: 1 row, and 14,418 of 4,096 elements."""


def the_task(workload: int = ROW) -> Task:
    task = load("l1_rmsnorm")
    return task.model_copy(update={"workloads": (task.workloads[workload],)})


def plain(task: Task) -> Candidate:
    candidate = create("reference", task, 0).ask()
    assert candidate is not None
    return candidate


def timed(task: Task, candidate: Candidate, span_ms: float, busy_ms: float) -> Verdict:
    verdict = accepted(task, candidate, span_ms)
    workloads = tuple(w.model_copy(update={"busy_ms": busy_ms}) for w in verdict.workloads)
    return verdict.model_copy(update={"workloads": workloads})


def asked(task: Task, *told: tuple[Candidate, Verdict]) -> Candidate | None:
    agent = create("cuda_graph", task, 0)
    assert agent.ask() is None
    for candidate, verdict in told:
        agent.tell(candidate, verdict)
    return agent.ask()


class TestContract(AgentContract):
    def task(self) -> Task:
        return the_task()

    def make(self) -> Agent:
        agent, candidate = create("cuda_graph", self.task(), 3), plain(self.task())
        agent.tell(candidate, timed(self.task(), candidate, 100.0, 10.0))
        return agent


def test_a_candidate_that_leaves_the_gpu_waiting_is_wrapped_and_keeps_its_languages() -> None:
    task = the_task()
    candidate = plain(task)
    wrapped = asked(task, (candidate, timed(task, candidate, 100.0, 10.0)))
    assert wrapped is not None and candidate.strategy in wrapped.strategy
    assert wrapped.solution.spec.languages == candidate.solution.spec.languages
    assert "def plain_run(" in wrapped.solution.sources[0].content


@pytest.mark.parametrize(
    ("workload", "span", "busy"),
    [(ROW, 100.0, 99.0), (MANY_ROWS, 0.1, 0.05)],
    ids=["hardly waits", "copies cost more than the gaps"],
)
def test_nothing_is_proposed_where_a_replay_gains_little(workload: int, span: float, busy: float) -> None:
    task = the_task(workload)
    candidate = plain(task)
    assert asked(task, (candidate, timed(task, candidate, span, busy))) is None


def test_nothing_is_proposed_on_a_cpu_after_a_rejection_or_beside_a_faster_one() -> None:
    task = the_task()
    candidate = plain(task)
    assert asked(task, (candidate, accepted(task, candidate, 100.0, gpu=False))) is None
    assert asked(task, (candidate, rejected(task, candidate, ReasonCode.NUMERICAL))) is None
    other = Proposal("another", "def run(*inputs):\n    return inputs[0]\n").candidate(
        task, "library", Hardware.B200
    )
    both = ((candidate, timed(task, candidate, 100.0, 10.0)), (other, timed(task, other, 5.0, 4.9)))
    assert asked(task, *both) is None


def test_what_is_not_one_python_file_that_returns_its_outputs_is_left_alone() -> None:
    task = the_task()
    into = Proposal("into", "def run(x, y):\n    y.copy_(x)\n", (Language.TRITON,), True)
    bound = Proposal("bound to a name", "run = abs\n")
    for proposal in (into, bound):
        candidate = proposal.candidate(task, "template", Hardware.B200)
        assert asked(task, (candidate, timed(task, candidate, 100.0, 10.0))) is None


def test_without_a_gpu_the_wrapped_candidate_calls_the_plain_one(tmp_path: Path) -> None:
    task = the_task()
    candidate = plain(task)
    wrapped = asked(task, (candidate, timed(task, candidate, 100.0, 10.0)))
    assert wrapped is not None
    inputs = draw(task)
    for output, truth in zip(actual(task, wrapped, inputs, tmp_path), expected(task, inputs), strict=True):
        torch.testing.assert_close(output, truth)


@pytest.mark.gpu
@pytest.mark.parametrize("asks_the_device", [False, True])
def test_replays_follow_the_values_of_every_call(asks_the_device: bool, tmp_path: Path) -> None:
    """Where the function asks the device for a value, what cannot be recorded is called as it stands."""
    task = the_task()
    question = "    assert x.sum().item() == x.sum().item()\n" if asks_the_device else ""
    source = (
        "def run(x, factor):\n"
        + question
        + "    for _ in range(50):\n        x = x * factor + 1\n    return x, x.sum(0)\n"
    )
    candidate = Proposal("small steps", source).candidate(task, "library", Hardware.B200)
    wrapped = asked(task, (candidate, timed(task, candidate, 100.0, 10.0)))
    assert wrapped is not None
    module, honest = imported(wrapped, tmp_path), imported(candidate, tmp_path)
    kept = []
    for rows, factor in [(64, 0.5), (64, 0.25), (8, 0.5), (64, 0.5)]:
        x = torch.randn(rows, 32, device="cuda")
        kept.append((module.run(x, factor), honest.run(x, factor)))
    for outputs, truths in kept:
        for output, truth in zip(outputs, truths, strict=True):
            torch.testing.assert_close(output, truth)
    assert (None in module._recordings.values()) == asks_the_device
