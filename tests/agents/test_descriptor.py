"""Descriptors: the structure of a candidate by its code, deaf to what it is said to be."""

import pytest

from agents.descriptor import describe
from agents.registry import create
from tasks.candidate import Candidate
from tests.fakes.task import candidate

TORCH = "import torch\ndef run(x, w):\n    return torch.softmax(x @ w.t(), -1)\n"
TRITON = """import torch, triton
import triton.language as tl

@triton.jit
def kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    tl.store(y + at, v / tl.sum(v, 0), mask=at < n)

def run(x):
    y = torch.empty_like(x)
    kernel[(1,)](x, y, x.numel(), BLOCK=1024, num_warps=4)
    return y
"""


def holding(source: str, path: str = "main.py", strategy: str = "") -> Candidate:
    made = candidate("accepted 1")
    file = made.solution.sources[0].model_copy(update={"content": source, "path": path})
    solution = made.solution.model_copy(update={"sources": (file,)})
    return made.model_copy(update={"solution": solution, "strategy": strategy})


def test_library_calls_and_a_kernel_differ_in_language_and_family():
    first, second = describe(holding(TORCH)), describe(holding(TRITON))
    assert (first.dsl, second.dsl) == ("torch", "triton")
    assert first.family == "dot+exp" and second.family == "reduction"
    assert first.layout == "transposed" and second.precision == "fp32"
    assert set(first.differs_in(second)) == {"dsl", "family", "layout", "precision"}


def test_numbers_words_and_claims_change_nothing():
    tuned = TRITON.replace("1024", "2048").replace("num_warps=4", "num_warps=8")
    claimed = (
        TRITON + "# torch.compile, CUDA, tl.dot, float8_e4m3fn\n_note = 'warp_specialize tl.atomic_add'\n"
    )
    for source in (tuned, claimed):
        assert describe(holding(source, strategy="a new design in CUDA")) == describe(holding(TRITON))


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("tl.store(y", "tl.atomic_add(y", "family"),
        (".to(tl.float32)", ".to(tl.float16)", "precision"),
        ("x.numel()", "x.contiguous().numel()", "layout"),
    ],
)
def test_each_part_moves_by_itself(old, new, part):
    assert old in TRITON
    assert describe(holding(TRITON)).differs_in(describe(holding(TRITON.replace(old, new)))) == (part,)


def test_native_sources_are_read_without_comments_and_texts():
    code = 'extern "C" __global__ void k(__half* x) { __shfl_xor_sync(0, 1, 2); } // atomicAdd, wgmma\n'
    seen = describe(holding(code, "k.cu"))
    assert (seen.dsl, seen.family, seen.precision) == ("cuda", "reduction", "fp16")


def test_what_cannot_be_read_is_described_by_nothing():
    assert describe(holding("def run(")).family == "elementwise"


def test_the_agents_of_the_project_are_told_apart():
    from tasks import load

    task = load("l1_rmsnorm")
    languages = {
        name: describe(create(name, task, 0).ask()).dsl for name in ("reference", "compile", "template")
    }
    assert languages == {"reference": "torch", "compile": "compile", "template": "triton"}
