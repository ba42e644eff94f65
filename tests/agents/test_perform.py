"""References performed on a few numbers: as Python would, without anything that reaches beyond tensors."""

import pytest
import torch

from agents.reading.perform import CannotPerform, perform

LOOP = """
import torch
import torch.nn.functional as F
SCALE = 3

def helper(x, twice=False):
    return x * 2 if twice else x

@torch.no_grad()
def run(x, chosen):
    out = torch.zeros_like(x)
    for e in range(3):
        rows, = torch.where(chosen == e)
        if rows.numel() == 0:
            continue
        part = helper(F.silu(x[rows].to(torch.float32)), twice=e > 0)
        out.index_add_(0, rows, part.to(x.dtype) * SCALE)
    first, *_ = [out]
    return {"y": out, "z": out.sum(dim=-1)}
"""


def test_loops_branches_and_helpers_are_followed() -> None:
    source = LOOP.replace("    first, *_ = [out]\n", "")
    x, chosen = torch.randn(5, 4).double(), torch.tensor([0, 2, 2, 0, 2])
    y, z = perform(source, [x, chosen])
    wanted = torch.nn.functional.silu(x) * 3 * torch.where(chosen > 0, 2, 1)[:, None]
    torch.testing.assert_close(y, wanted)
    torch.testing.assert_close(z, wanted.sum(-1))


def test_wide_forgets_roundings_and_narrow_keeps_them() -> None:
    source = "import torch\ndef run(x):\n    return x.to(torch.bfloat16).float() + 1\n"
    x = torch.tensor([1.001], dtype=torch.float64)
    assert float(perform(source, [x])[0]) == 2.001
    assert float(perform(source, [x], wide=False)[0]) == 2.0


def test_sizes_that_are_written_out_may_stand_for_others() -> None:
    source = "import torch\ndef run(x):\n    assert x.shape[0] == 7168\n    return x.reshape(-1, 7168).sum(dim=0)\n"
    assert perform(source, [torch.ones(8)], literals={7168: 4})[0].tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize(
    "body",
    [
        "return open('x')",
        "return __import__('os').getcwd()",
        "return x.__class__",
        "return torch.load('x')",
        "return x.numpy()",
        "return torch.zeros(1 << 40)",
        "return x.repeat(10000, 10000)",
        "while True:\n        pass",
        "return [0 for _ in range(10000000)]",
        "return 10 ** 10 ** 10",
        "exec('1')",
        "first, *_ = [x]\n    return first",
    ],
)
def test_what_reaches_further_is_refused(body: str) -> None:
    with pytest.raises(CannotPerform):
        perform(f"import torch\ndef run(x):\n    {body}\n", [torch.ones(3)])
