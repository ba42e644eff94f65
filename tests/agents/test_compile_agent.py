"""Compiled candidates: one graph or one a size, whole graphs where possible, and few of them on a CPU."""

import functools
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from agents.compile import VARIANTS, CompileAgent, compiled_source
from agents.proposal import Proposal
from agents.testing import accepted
from guard.headers import lay_headers
from guard.judge import told_on_a_cpu
from tasks.candidate import Candidate
from tasks.loading import load
from tasks.solution import Hardware
from tests.agents.small import draw, expected, imported, make_task, shipped, worst_error

ONE_FOR_ALL, ONE_A_SIZE, TUNED = VARIANTS
BREAKING = """import torch

def make_inputs(axes_and_scalars, device):
    return {}

@torch.no_grad()
def run(x):
    if x.sum().item() > 0:
        return x + 1
    return x - 1
"""


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The options of every compilation, which is done by the front end alone, without generated code."""
    calls: list[dict[str, Any]] = []
    compile_for_real = torch.compile

    def front_end_only(function: Any, **options: Any) -> Any:
        calls.append(options)
        options.pop("mode", None)
        return compile_for_real(function, backend="eager", **options)

    monkeypatch.setattr(torch, "compile", functools.wraps(compile_for_real)(front_end_only))
    torch._dynamo.reset()
    return calls


def candidate_of(reference: str, variant: Any) -> tuple[Candidate, Any]:
    task = make_task(reference, {"x": (["n"], "float32")}, {"y": (["n"], "float32")}, {"n": 4})
    source = compiled_source(reference, variant)
    return Proposal(variant.strategy, source).candidate(task, "compile", Hardware.B200), task


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda v: v.strategy)
def test_compiled_candidates_compute_the_same(
    variant: Any, compilations: list[dict[str, Any]], tmp_path: Path
) -> None:
    task = shipped("l2_mlp_block", {"hidden_size": 64, "inner_size": 96}, {"num_tokens": 5})
    source = compiled_source(task.definition.reference, variant)
    module = imported(Proposal("s", source).candidate(task, "compile", Hardware.B200), tmp_path)
    for seed in range(2):
        inputs = draw(task, seed)
        assert worst_error([module.run(*inputs.values())], expected(task, inputs)) < 0.02
    assert len(compilations) == 1


def test_a_graph_break_falls_back_to_pieces(compilations: list[dict[str, Any]], tmp_path: Path) -> None:
    candidate, _ = candidate_of(BREAKING, ONE_FOR_ALL)
    run = imported(candidate, tmp_path).run
    assert torch.equal(run(torch.ones(4)), torch.full((4,), 2.0))
    assert torch.equal(run(-torch.ones(4)), torch.full((4,), -2.0))
    assert [options["fullgraph"] for options in compilations] == [True, False]


def test_one_graph_a_size_compiles_for_more_sizes_than_the_limit_of_recompilations(
    compilations: list[dict[str, Any]], tmp_path: Path
) -> None:
    candidate, _ = candidate_of("import torch\n\ndef run(x):\n    return x * x.shape[0]\n", ONE_A_SIZE)
    run = imported(candidate, tmp_path).run
    with torch._dynamo.config.patch(error_on_recompile=True):
        for size in range(2, 22):
            for _ in range(2):
                assert torch.equal(run(torch.ones(size)), torch.full((size,), float(size)))
    assert len(compilations) == 20


def test_the_input_generator_does_not_travel_along() -> None:
    candidate, _ = candidate_of(BREAKING, ONE_FOR_ALL)
    assert "make_inputs" not in candidate.solution.sources[0].content


def test_on_a_cpu_only_what_compiles_once_is_proposed() -> None:
    task = load("l2_mlp_block")
    for gpu, number in ((False, 1), (True, 3)):
        agent, asked = CompileAgent(task, 0), 0
        while (candidate := agent.ask()) is not None:
            asked += 1
            agent.tell(candidate, accepted(task, candidate, gpu=gpu))
        assert asked == number


@pytest.mark.slow
def test_generated_code_computes_the_same_in_one_process(tmp_path: Path) -> None:
    """With the real back end, compiling in the process itself as a sandbox demands."""
    task = shipped("l1_rmsnorm", {}, {"num_rows": 3, "width": 100})
    candidate = CompileAgent(task, 0).ask()
    assert candidate is not None
    (tmp_path / "main.py").write_text(candidate.solution.sources[0].content)
    program = (
        "import torch, main\n"
        "x, g = torch.randn(7, 100).bfloat16(), torch.randn(100).bfloat16()\n"
        "for rows in (x, x[:3]):\n"
        "    w = rows.double()\n"
        "    truth = w * torch.rsqrt(w.square().mean(-1, keepdim=True) + 1e-5) * g.double()\n"
        "    assert torch.allclose(main.run(rows, g, 1e-5).double(), truth, rtol=0.01, atol=1e-4)\n"
    )
    environment = {
        "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", **told_on_a_cpu(),
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"), "HOME": str(tmp_path), "TMPDIR": str(tmp_path),
    }  # fmt: skip
    lay_headers(tmp_path)
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path, env=environment)
