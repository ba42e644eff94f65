"""Loops over a length walked in one kernel: found where they are, refused where they are not, and right at any length."""

import os
from pathlib import Path

import pytest
import torch

from agents.proposal import Proposal
from agents.rewrite.agent import RewriteAgent
from agents.rewrite.loops.fold import folded
from agents.rewrite.loops.lengths import recurrence
from agents.rewrite.loops.propose import loop_sources
from agents.rewrite.loops.recurrence import NoLoop
from agents.rewrite.loops.written import unwritten
from agents.rewrite.program import Program
from agents.rewrite.trace import follow_as_is
from tasks.solution import Hardware
from tasks.task import Task
from tests.agents.interpreted import Call, run_interpreted
from tests.agents.small import draw, expected, imported, make_task
from tests.agents.test_attention_on_gpu import spilled

Inputs = dict[str, tuple[list[str], str]]

WIDE: Inputs = {"x": (["rows", "steps", "width"], "float32"), "a": (["rows", "steps", "width"], "float32")}
OUT: Inputs = {"y": (["rows", "steps", "width"], "float32")}
LAST: Inputs = {"h": (["rows", "width"], "float32")}
AXES = {"rows": 2, "steps": 14}
CONSTS = {"width": 10, "state": 6, "heads": 3}
HEADS: Inputs = {name: (["rows", "heads", "steps", "width"], "float32") for name in "qkv"}
PER_HEAD: Inputs = {"o": (["rows", "heads", "steps", "width"], "float32")}


def _task(body: str, inputs: Inputs = WIDE, outputs: Inputs = OUT) -> Task:
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    reference = f"import torch\nimport torch.nn.functional as F\n\ndef run({', '.join(inputs)}):\n{lines}\n"
    used = {name for shape, _ in [*inputs.values(), *outputs.values()] for name in shape}
    return make_task(reference, inputs, outputs, AXES, {n: v for n, v in CONSTS.items() if n in used})


SCAN = _task(
    """
delta = F.softplus(delta)
h = x.new_zeros(x.shape[0], x.shape[2], A.shape[1])
ys = []
for t in range(x.shape[1]):
    h = torch.exp(delta[:, t, :, None] * -A.exp()) * h + delta[:, t, :, None] * B[:, t, None, :] * x[:, t, :, None]
    ys.append(torch.einsum("bdn,bn->bd", h, B[:, t]))
return torch.stack(ys, 1) * torch.sigmoid(x)""",
    {
        "x": (["rows", "steps", "width"], "float32"), "delta": (["rows", "steps", "width"], "float32"),
        "A": (["width", "state"], "float32"), "B": (["rows", "steps", "state"], "float32"),
    },
)  # fmt: skip
PROBLEMS = {
    "a state of its own dimension": SCAN,
    "a matrix for each head, written slice by slice": _task(
        """
S = torch.zeros(q.shape[0], q.shape[1], q.shape[3], q.shape[3])
o = torch.empty_like(v)
for t in range(q.shape[2]):
    kt = k[:, :, t] / k[:, :, t].norm(dim=-1, keepdim=True).clamp(min=1e-6)
    old = torch.einsum("bhkv,bhk->bhv", S, kt)
    S = S * 0.9 + kt.unsqueeze(-1) * (v[:, :, t] - old).unsqueeze(-2)
    o[:, :, t] = (q[:, :, t].unsqueeze(-2) @ S).squeeze(-2)
return o""",
        HEADS, PER_HEAD,
    ),
    "the first step apart, and the last state": _task(
        "h = x[:, 0]\nys = [h]\nfor t in range(1, x.shape[1]):\n    h = torch.sigmoid(a[:, t]) * h + x[:, t]\n"
        "    ys.append(h * h.abs().amax(-1, keepdim=True))\nreturn torch.stack(ys, 1), h",
        outputs={**OUT, **LAST},
    ),
    "backwards over slices, added in place": _task(
        "y = x.clone()\nfor t in range(x.shape[1] - 2, -1, -1):\n"
        "    y[:, t] += torch.sigmoid(a[:, t]) * y[:, t + 1]\nreturn y"
    ),
    "a largest value to subtract, two steps ago, and the step's number": _task(
        "m = torch.full_like(x[:, 0], -1e30)\ns = torch.zeros_like(m)\nold = torch.zeros_like(m)\nys = []\n"
        "for xt, at in zip(x.unbind(1), a.unbind(1)):\n    n = torch.maximum(m, xt)\n"
        "    new = s * torch.exp(m - n) + torch.exp(xt - n) + 0.1 * old / (len(ys) + 1)\n"
        "    old, s, m = s, new, n\n    ys.append(torch.log(s) + m + at)\nreturn torch.stack(ys, 1)"
    ),
    "rounded to half precision in every step": _task(
        "h = torch.zeros_like(x[:, 0])\ny = torch.zeros_like(x)\nfor t in range(x.shape[1]):\n"
        "    h = torch.sigmoid(a[:, t]) * h + x[:, t]\n    y[:, t : t + 1] = h[:, None]\nreturn y",
        {name: (shape, "float16") for name, (shape, _) in WIDE.items()}, {"y": (OUT["y"][0], "float16")},
    ),
}  # fmt: skip
REFUSED = {
    "mixes the places": "h = x[:, 0]\nfor t in range(x.shape[1]):\n"
    "    h = torch.tanh(h @ torch.ones(10, 10) + x[:, t])\nreturn x * h[:, None]",
    "grow evenly": "return torch.stack([x[:, : t + 1].mean(1) for t in range(x.shape[1])], 1)",
    "whole length": "h = x[:, 0]\nfor t in range(x.shape[1]):\n"
    "    h = h + (x * h[:, None]).sum(1) * x[:, t]\nreturn x * h[:, None]",
    "does not grow": "for name in ('one', 'two'):\n    x = x * 2\nreturn x",
    "has no loop": "return x * a",
}  # fmt: skip


def _elsewhere(task: Task, **axes: int) -> Task:
    workload = task.workloads[0]
    other = workload.model_copy(update={"axes": {**workload.axes, **axes}})
    return task.model_copy(update={"workloads": (other,)})


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    return {name: next(iter(loop_sources(task)))[1] for name, task in PROBLEMS.items()}


@pytest.fixture(scope="module")
def results(
    sources: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[tuple[list[torch.Tensor], list[torch.Tensor]]]]:
    """Of every problem its outputs and the reference's, as long as its workload, of one step, and of other sizes."""
    folder = tmp_path_factory.mktemp("walked")
    jobs: list[tuple[Path, list[Call]]] = []
    wanted = {}
    for number, (name, task) in enumerate(PROBLEMS.items()):
        path = folder / f"candidate_{number}.py"
        path.write_text(sources[name])
        places = [task, _elsewhere(task, steps=1), _elsewhere(task, steps=5, rows=3)]
        wanted[name] = [expected(place, draw(place)) for place in places]
        jobs.append((path, [(list(draw(place).values()), []) for place in places]))
    done = run_interpreted(jobs, folder)
    return {
        name: list(zip(found, wanted[name], strict=True)) for name, found in zip(wanted, done, strict=True)
    }


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_walked_loop_computes_what_the_reference_does(name: str, results: dict) -> None:  # type: ignore[type-arg]
    for found, wanted in results[name]:
        assert [(t.shape, t.dtype) for t in found] == [(t.shape, t.dtype) for t in wanted]
        for one, other in zip(found, wanted, strict=True):
            exact = one.dtype == torch.float16
            torch.testing.assert_close(one, other, rtol=0 if exact else 2e-4, atol=2e-3 if exact else 2e-5)


def test_what_is_cheap_before_a_loop_is_worked_out_in_it(sources: dict[str, str]) -> None:
    source = sources["a state of its own dimension"]
    walk = source[source.index("def _walk(") :]
    assert source.count("for t in tl.range") == 1
    assert walk.startswith("def _walk(delta, A, B, x, steps, rows)") and "torch.exp" not in walk


@pytest.mark.parametrize("reason", REFUSED)
def test_what_is_no_such_loop_is_refused_with_its_reason(reason: str) -> None:
    with pytest.raises(NoLoop, match=reason):
        next(iter(loop_sources(_task(REFUSED[reason]))))


def _followed(task: Task) -> Program:
    return unwritten(follow_as_is(task.definition, task.workloads[0], {}, 900))


def test_steps_are_told_from_what_stands_around_them() -> None:
    program = _followed(_elsewhere(SCAN, steps=5))
    step = len(_followed(_elsewhere(SCAN, steps=6)).ops) - len(program.ops)
    loop = folded(program, step)
    assert loop.count == (5,) and len(loop.body) == step
    assert "softplus" in loop.before and [op.base for op in loop.after.values()] == ["sigmoid", "mul"]
    assert len(loop.states) == len(loop.collected) == 1
    with pytest.raises(NoLoop):
        folded(program, step + 1)


def test_a_tensor_written_slice_by_slice_is_no_state() -> None:
    task = PROBLEMS["a matrix for each head, written slice by slice"]
    loop = recurrence(task.definition, task.workloads)
    assert [loop.types[name].shape[-1] for name in loop.states] == [loop.types["k"].shape[-1]]
    (collected,) = loop.collected.values()
    assert (collected.dim, collected.adds_dimension, collected.place.step, collected.into) == (
        2,
        True,
        1,
        None,
    )


def test_the_agent_proposes_the_walked_loop_first() -> None:
    candidate = RewriteAgent(PROBLEMS["backwards over slices, added in place"], 0).ask()
    assert candidate is not None and "walks the loop" in candidate.strategy


@pytest.mark.skipif(os.environ.get("TRITON_INTERPRET") == "1", reason="the interpreter does not compile")
@pytest.mark.parametrize("capability", [90, 100])
def test_it_compiles_without_spilling(
    capability: int, sources: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    proposal = Proposal("walked", sources["a state of its own dimension"])
    kernel = imported(proposal.candidate(SCAN, "rewrite", Hardware.B200), tmp_path)._walk_kernel
    types = {name: "*fp32" for name in kernel.arg_names if name.startswith(("p_", "out_"))}
    constants = {"K0": 8, "LANES": 64, "STAGES": 4}
    assert spilled(kernel, types, constants, 1, capability, tmp_path) <= 64
