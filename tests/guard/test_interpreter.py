"""Triton's interpreter in a worker: quicker, and the same values."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from guard.interpreter import is_wanted

ROOT = Path(__file__).resolve().parents[2]
_PROGRAM = """
import json, sys
import torch, triton, triton.language as tl
from triton.runtime import interpreter
from guard.interpreter import quicken

patches = []

@triton.jit
def scaled(value, factor: tl.constexpr):
    return (value * factor).to(tl.bfloat16)

@triton.jit
def rows(x, y, n, block: tl.constexpr):
    at = tl.arange(0, block)
    row = tl.program_id(0)
    value = tl.load(x + row * n + at, mask=at < n, other=0.0).to(tl.float32)
    total = tl.sum(value, axis=0)
    tl.store(y + row * n + at, scaled(value / (1.0 + total * total), 3.0), mask=at < n)

def bits(seed):
    x = torch.randn(5, 48, generator=torch.Generator().manual_seed(seed)).to(torch.bfloat16)
    y = torch.empty_like(x)
    patches.clear()
    rows[(5,)](x, y, 48, block=64)
    return y.view(torch.int16).tolist()

plain, add = interpreter._patch_builtin, tl.add
def counted(package, *more):
    patches.append(package)
    plain(package, *more)
interpreter._patch_builtin = counted
before, slow = [bits(1), bits(2)], len(patches)
quicken()
after, quick = [bits(1), bits(2)], len(patches)
print(json.dumps([before == after, slow, quick, tl.add is add]))
"""


def test_the_same_bits_with_the_language_patched_once_a_launch_and_then_restored(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(_PROGRAM)
    said = subprocess.run(
        [sys.executable, str(program)], cwd=ROOT, capture_output=True, text=True, check=False,
        env={"TRITON_INTERPRET": "1", "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert said.returncode == 0, said.stderr[-1500:]
    same, slow, quick, restored = json.loads(said.stdout)
    assert same and restored
    assert quick * 4 < slow


@pytest.mark.parametrize(("interprets", "text", "wanted"), [
    ("1", "import triton", True), ("0", "import triton", False), ("1", "import torch", False),
])  # fmt: skip
def test_only_where_a_candidate_of_triton_is_interpreted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interprets: str, text: str, wanted: bool
) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", interprets)
    (tmp_path / "part").mkdir()
    (tmp_path / "part" / "kernel.py").write_text(text)
    assert is_wanted(tmp_path) is wanted
