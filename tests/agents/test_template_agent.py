"""The template agent: recognises what it can, and tunes by GPU times, or by predictions where there are none."""

import pytest

from agents.latency import target_latency_ms
from agents.proposal import Proposal
from agents.template import TemplateAgent
from agents.templates.base import Family, Knobs, KnobSpace
from agents.templates.row_norm import RowNormFamily
from agents.testing import accepted, rejected
from guard.verdict import ReasonCode
from tasks.loading import load
from tasks.solution import Language
from tasks.task import Task
from tests.agents.small import make_task


def test_a_norm_gets_triton_kernels_that_fill_their_outputs() -> None:
    candidate = TemplateAgent(load("l1_rmsnorm"), 0).ask()
    assert candidate is not None
    assert candidate.solution.spec.languages == (Language.TRITON,)
    assert candidate.solution.spec.destination_passing_style


def test_a_task_of_no_family_gets_no_candidate() -> None:
    reference = "import torch\n\ndef run(x):\n    return torch.cumsum(x, dim=-1)\n"
    task = make_task(reference, {"x": (["n"], "float32")}, {"y": (["n"], "float32")}, {"n": 5})
    assert TemplateAgent(task, 0).ask() is None


def late_share(seed: int, gpu: bool, with_prediction: bool) -> float:
    """The share of persistent kernels among later proposals, when they alone are told to be fast."""
    task = load("l1_rmsnorm")
    agent = TemplateAgent(task, seed)
    persistent = []
    for _ in range(30):
        candidate = agent.ask()
        assert candidate is not None
        persistent.append("persistent" in candidate.strategy)
        ms = 0.1 if persistent[-1] else 5.0
        verdict = accepted(task, candidate, ms if gpu else 1.0, gpu)
        agent.tell(candidate, verdict, predicted_ms=ms if with_prediction else None)
    return sum(persistent[12:]) / len(persistent[12:])


def test_times_on_a_gpu_steer_the_search() -> None:
    assert late_share(0, gpu=True, with_prediction=False) > 0.75


def test_predictions_steer_where_nothing_was_timed_on_a_gpu() -> None:
    assert late_share(0, gpu=False, with_prediction=True) > 0.75


def test_wall_clock_times_do_not_steer() -> None:
    task = load("l1_rmsnorm")
    asked: list[list[str]] = []
    for scale in (1.0, 1000.0):
        agent = TemplateAgent(task, 0)
        asked.append([])
        for turn in range(20):
            candidate = agent.ask()
            assert candidate is not None
            asked[-1].append(candidate.digest)
            agent.tell(candidate, accepted(task, candidate, scale * (turn + 1), gpu=False))
    assert asked[0] == asked[1]


def test_the_latency_of_a_verdict_is_the_geometric_mean_of_gpu_times() -> None:
    task = load("l1_rmsnorm")
    candidate = TemplateAgent(task, 0).ask()
    assert candidate is not None
    verdict = accepted(task, candidate, 4.0)
    first = verdict.workloads[0].model_copy(update={"latency_ms": 1.0})
    two = verdict.model_copy(update={"workloads": (first, verdict.workloads[1])})
    assert target_latency_ms(two) == 2.0
    partial = verdict.model_copy(update={"workloads": (first.model_copy(update={"latency_ms": None}), first)})
    assert target_latency_ms(partial) is None
    assert target_latency_ms(accepted(task, candidate, 1.0, gpu=False)) is None
    assert target_latency_ms(rejected(task, candidate, ReasonCode.BUILD)) is None


class OneKnobMatters:
    """A family whose second knob changes nothing in the source."""

    name = "one_knob_matters"
    numerics = ""

    def matches(self, task: Task) -> str:
        return task.name

    def knobs(self, match: str) -> KnobSpace:
        return KnobSpace(choices={"size": (1, 2, 3), "idle": (False, True)})

    def render(self, match: str, knobs: Knobs) -> Proposal:
        return Proposal(f"{self.name} {knobs['size']}", f"SIZE = {knobs['size']}\n\ndef run(*tensors): ...\n")


def test_families_take_turns_and_settings_that_make_the_same_source_are_asked_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    families: dict[str, Family] = {"idle": OneKnobMatters(), "row_norm": RowNormFamily()}
    monkeypatch.setattr("agents.template.FAMILIES", families)
    agent = TemplateAgent(load("l1_rmsnorm"), 0)
    asked = [candidate for _ in range(10) if (candidate := agent.ask()) is not None]
    ours = ["one_knob" in candidate.strategy for candidate in asked]
    assert ours[:6] == [True, False] * 3 and not any(ours[6:])
    assert len({candidate.digest for candidate in asked}) == 10
