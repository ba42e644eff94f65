"""Fused kernels: what they compute is what the reference computes, at sizes nobody traced."""

import pytest
import torch

from agents.reference import ReferenceAgent
from agents.rewrite.agent import RewriteAgent
from agents.rewrite.cleanup import cleaned
from agents.rewrite.plan import Plan, plan
from agents.rewrite.trace import NotTraceable, trace
from agents.testing import accepted
from tasks.task import Task
from tests.agents.interpreted import run_interpreted
from tests.agents.small import draw, expected, make_task, shipped

MATRIX = {"x": (["rows", "width"], "float32")}
OUT = {"y": (["rows", "width"], "float32")}
TWO = {"x": (["rows", "width"], "float32"), "z": (["rows", "width"], "float32")}
AXES = {"rows": 5, "width": 24}


def _task(body: str, inputs: dict = MATRIX, outputs: dict = OUT, axes: dict = AXES) -> Task:  # type: ignore[type-arg]
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    names = ", ".join(inputs)
    return make_task(
        f"import torch\nimport torch.nn.functional as F\n\ndef run({names}):\n{lines}\n",
        inputs,
        outputs,
        axes,
    )


PROBLEMS = {
    "gated": _task("return F.silu(x) * torch.sigmoid(z) + 0.5", TWO),
    "norm": _task("h = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)\nreturn h * 2 - x"),
    "sum without its dimension": _task("return x - x.sum(-1).unsqueeze(-1) / x.shape[-1]"),
    "softmax under a mask": _task(
        "keep = torch.ones_like(x).tril() > 0\nreturn torch.softmax(torch.where(z > 0, x, -1e9) * 0.3, dim=-1)", TWO
    ),
    "layer norm": _task("return F.gelu(F.layer_norm(x, (24,))) * z", TWO),
    "turned halves": _task("a, b = x.chunk(2, dim=-1)\nreturn torch.cat([-b, a], dim=-1) * z + x", TWO),
    "every other one": _task(
        "even, odd = x[..., 0::2], x[..., 1::2]\nreturn torch.stack((-odd, even), dim=-1).flatten(-2) * z", TWO
    ),
    "groups of a row": _task(
        "g = x.reshape(-1, 3, 8)\ns = g.abs().amax(-1, keepdim=True).clamp(min=1e-4)\nreturn (g / s * 7.0).reshape(x.shape)"
    ),
    "two outputs": _task(
        "s = x + z\nreturn s * torch.rsqrt(s.square().mean(-1, keepdim=True) + 1e-5), s * 1.5", TWO,
        {**OUT, "s": (["rows", "width"], "float32")},
    ),
    "one value a row": _task(
        "return (x * z).sum(-1) * 0.5", TWO, {"y": (["rows"], "float32")},
    ),
    "before and after a product": _task(
        "h = F.relu(x + 1.0) * 0.5\nreturn torch.tanh(h @ w) + x * h",
        {**MATRIX, "w": (["width", "width"], "float32")},
    ),
    "other axes": _task(
        "h = x.transpose(0, 1).unsqueeze(-1) + z.view(1, z.shape[0], z.shape[1])\nreturn h.abs() + h",
        {"x": (["rows", "width"], "float32"), "z": (["rows", "depth"], "float32")},
        {"y": (["width", "rows", "depth"], "float32")}, {"rows": 5, "width": 24, "depth": 6},
    ),
    "a number among the inputs": _task(
        "return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps)", {**MATRIX, "eps": (None, "float32")}
    ),
    "written in place": _task("h = x.clone()\nh[:, 1:] *= 2.0\nreturn torch.exp(h * 0.1) + z", TWO),
    "its own derivative": _task(
        "x = x.detach().requires_grad_()\n"
        "with torch.enable_grad():\n    y = (torch.sigmoid(x) * z).sum()\n    (g,) = torch.autograd.grad(y, x)\n"
        "return g * 2.0", TWO,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def results(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, list[tuple[list[torch.Tensor], list[torch.Tensor]]]]:
    """Of every problem its outputs and the reference's, with one more row than was traced."""
    folder = tmp_path_factory.mktemp("fused")
    jobs, wanted = [], {}
    for number, (name, task) in enumerate(PROBLEMS.items()):
        candidate = RewriteAgent(task, 0).ask()
        assert candidate is not None, name
        path = folder / f"candidate_{number}.py"
        path.write_text(candidate.solution.sources[0].content)
        other = _elsewhere(task)
        calls = [list(draw(task).values()), list(draw(other, 1).values())]
        wanted[name] = [expected(task, draw(task)), expected(other, draw(other, 1))]
        jobs.append((path, [(inputs, []) for inputs in calls]))
    done = run_interpreted(jobs, folder)
    return {
        name: list(zip(found, wanted[name], strict=True)) for name, found in zip(wanted, done, strict=True)
    }


def _elsewhere(task: Task) -> Task:
    workload = task.workloads[0]
    axes = {**workload.axes, "rows": workload.axes["rows"] + 2}
    return task.model_copy(update={"workloads": (workload.model_copy(update={"axes": axes}),)})


@pytest.mark.parametrize("name", PROBLEMS)
def test_fused_kernels_compute_what_the_reference_does(name: str, results: dict) -> None:  # type: ignore[type-arg]
    for found, wanted in results[name]:
        assert [(t.shape, t.dtype) for t in found] == [(t.shape, t.dtype) for t in wanted]
        for one, other in zip(found, wanted, strict=True):
            torch.testing.assert_close(one, other, rtol=2e-5, atol=2e-6)


def _planned(task: Task) -> Plan:
    found = plan(cleaned(trace(task.definition, task.workloads)))
    assert found is not None
    return found


def test_what_reads_one_row_is_one_kernel() -> None:
    found = _planned(PROBLEMS["two outputs"])
    assert len(found.steps) == 1 and len(found.kernels[0].roots) == 2


def test_a_product_stands_between_two_kernels() -> None:
    found = _planned(PROBLEMS["before and after a product"])
    assert len(found.kernels) == 2 and [step.base for step in found.steps if step not in found.kernels] == [
        "matmul"
    ]


def test_a_shipped_norm_is_one_kernel_that_knows_every_size_by_name() -> None:
    candidate = RewriteAgent(shipped("l1_rmsnorm", {}, {"num_rows": 3, "width": 100}), 0).ask()
    assert candidate is not None
    source = candidate.solution.sources[0].content
    assert source.count("@triton.jit") == 1 and "rows.shape[0]" in source and "eps" in source


def test_one_operation_alone_is_left_to_torch() -> None:
    assert (
        plan(cleaned(trace(_task("return torch.softmax(x, -1)").definition, _task("return x").workloads)))
        is None
    )


@pytest.mark.parametrize(
    "body", ["return x[x > 0].sum() * x", "return x * 2 if x.sum().item() > 0 else x", "return x * undefined"]
)
def test_what_depends_on_values_or_does_not_run_is_given_up(body: str) -> None:
    task = _task(body)
    with pytest.raises(NotTraceable):
        trace(task.definition, task.workloads)
    assert RewriteAgent(task, 0).ask() is None


def test_where_nothing_is_measured_one_candidate_is_enough() -> None:
    task = PROBLEMS["gated"]
    agent = RewriteAgent(task, 0)
    first = agent.ask()
    assert first is not None
    agent.tell(first, accepted(task, first, gpu=False))
    assert agent.ask() is None
    measured = RewriteAgent(task, 0)
    measured.tell(first, accepted(task, first, gpu=True))
    assert len({c.digest for c in iter(measured.ask, None)}) > 3


def test_what_another_agent_got_right_on_a_cpu_silences_nobody() -> None:
    task = PROBLEMS["gated"]
    agent, plain = RewriteAgent(task, 0), ReferenceAgent(task, 0).ask()
    assert plain is not None
    agent.tell(plain, accepted(task, plain, gpu=False))
    assert agent.ask() is not None
