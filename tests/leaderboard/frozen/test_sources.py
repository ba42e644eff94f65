"""What the frozen kernels were built from: right in Triton's interpreter, and as the committed list says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from leaderboard.frozen.kernel import ROOT, frozen_kernels, sentinel_task
from scripts.sentinels.problems import PROBLEMS, write_problem

HERE = Path(__file__).parents[3]

INTERPRETED = """
import torch
from scripts.sentinels import kernels

def near(found, wanted):
    torch.testing.assert_close(found, wanted, rtol=1e-3, atol=1e-3)

x, y = torch.randn(4096), torch.zeros(4096)
kernels.copy[(3,)](x, y, 0, SIZE=4096, BLOCK=1024)
near(y, 2 * x)
rows, total = torch.randn(5, 64), torch.zeros(5)
kernels.reduce[(2,)](rows, total, 0, ROWS=5, WIDTH=64)
near(total, rows.sum(-1))
kernels.arithmetic[(2,)](x, y, 0, SIZE=4096, BLOCK=1024, STEPS=7)
near(y, 1 + (x - 1) * 0.999**7)
a, b, c = torch.randn(32, 64), torch.randn(64, 64), torch.zeros(32, 64, dtype=torch.bfloat16)
kernels.product[(4,)](a, b, c, 0, M=32, N=64, K=64, ROWS=16, COLUMNS=32, DEPTH=16)
torch.testing.assert_close(c.float(), a @ b, rtol=0.01, atol=0.01)  # bf16 is cut off there, not rounded
index = torch.randint(-1024, 1024, (9,), dtype=torch.int32)
table, picked = torch.randn(2048, 16), torch.zeros(9, 16)
kernels.gather[(4,)](table, index, picked, 0, COUNT=9, WIDTH=16, LOWEST=-1024)
near(picked, table[index.long() + 1024])
kernels.step[(2,)](x, y, 0, SIZE=2048)
near(y, x + 1)
print("right")
"""


def test_the_kernels_do_what_their_tasks_ask() -> None:
    """In a process of its own: whether Triton interprets is settled when it is imported."""
    done = subprocess.run(
        [sys.executable, "-c", INTERPRETED], cwd=HERE, capture_output=True, text=True, check=False,
        env={**os.environ, "TRITON_INTERPRET": "1"},
    )  # fmt: skip
    assert done.stdout == "right\n", done.stderr


@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_the_tasks_are_those_of_the_maker_and_can_be_loaded(name: str, tmp_path: Path) -> None:
    write_problem(name, tmp_path)
    for file in ("definition.json", "workload.jsonl"):
        assert (tmp_path / file).read_bytes() == (ROOT / "problems" / name / file).read_bytes()
    task = sentinel_task(name)
    assert task is not None and len(task.workloads) == 1
    assert str(HERE) not in task.model_dump_json()


def test_how_they_are_launched_as_the_recipes_say() -> None:
    from scripts.sentinels.recipes import RECIPES

    listed = {(k.name, k.grid, k.pointers) for k in frozen_kernels()}
    assert listed == {(name, r.programs, len(r.pointers)) for name, r in RECIPES.items()}
    assert json.loads((ROOT / "frozen.json").read_text())[0]["built_with"]["triton"]
