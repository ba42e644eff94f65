"""Problems that the guard measures itself by: kernels of many kinds, and spins of a known length.

Every one answers 2 x, so that the guard checks it like any candidate; what else it does takes time and no more.
"""

from collections.abc import Mapping
from typing import Literal

from tasks.candidate import Candidate
from tasks.definition import AxisVar, Definition, DType, TensorSpec
from tasks.solution import BuildSpec, Hardware, Language, Solution, SourceFile
from tasks.task import Task
from tasks.workload import RandomInput, ScalarInput, Workload

Device = Literal["cpu", "cuda"]
_REFERENCE = "def run(x, kind, amount):\n    return x * 2\n"

KINDS: dict[Device, dict[str, tuple[int, int, int]]] = {
    "cuda": {
        "tiny": (4096, 0, 1), "chain-of-three": (4096, 0, 3), "stream-1m": (1 << 20, 0, 1), "stream-16m": (1 << 24, 0, 1),
        "gemm-2048": (4096, 1, 2048), "gemm-4096": (4096, 1, 4096), "gemm-14336": (4096, 1, 14336),
        "softmax": (4096, 2, 1 << 20), "sort": (4096, 3, 1 << 20), "cumsum": (4096, 4, 1 << 22),
        "reduction": (4096, 5, 1 << 24), "transpose": (4096, 6, 4096),
    },
    "cpu": {
        "tiny": (256, 0, 1), "stream": (1 << 16, 0, 1), "gemm": (256, 1, 96), "sort": (256, 3, 1 << 14),
    },
}  # fmt: skip
"""Elements of x, what to do beside 2 x, and how much of it. The largest product takes ten milliseconds on an H200, and
draws the card's power to its cap. Each kernel more is half a minute more of twenty comparisons: twelve are promised."""
_MOST_POWER = (4096, 1, 16384)
DOSES: dict[Device, tuple[int, ...]] = {
    "cuda": (0, 2_000, 8_000, 16_000, 32_000, 64_000, 128_000, 512_000, 2_048_000),
    "cpu": (0, 1_000_000, 2_000_000, 4_000_000, 8_000_000),
}
"""Spins: cycles of the SM clock on a GPU, nanoseconds on a CPU."""

_KINDS_SOURCE = '''import torch

_KEPT = {}


def _operands(kind, amount, device):
    """Made at the first call and kept: the same for every call, and no input of the problem."""
    key = (kind, amount)
    if key not in _KEPT:
        half = torch.bfloat16 if device.type == "cuda" else torch.float32
        if kind in (1, 6):
            a = torch.randn(amount, amount, device=device, dtype=half)
            _KEPT[key] = (a, torch.empty_like(a))
        else:
            _KEPT[key] = (torch.randn(amount, device=device), None)
    return _KEPT[key]


def run(x, kind, amount, y):
    if kind == 0:
        torch.mul(x, 2, out=y)
        for _ in range(amount - 1):
            torch.mul(x, 2, out=y)
        return
    a, b = _operands(kind, amount, x.device)
    if kind == 1:
        torch.mm(a, a, out=b)
    elif kind == 2:
        torch.softmax(a, 0)
    elif kind == 3:
        torch.sort(a)
    elif kind == 4:
        torch.cumsum(a, 0)
    elif kind == 5:
        torch.sum(a)
    elif kind == 6:
        b.copy_(a.T)
    torch.mul(x, 2, out=y)
'''

_SPIN_CPU = """import time

import torch

FACTOR = {factor}
EXTRA = {extra}


def run(x, kind, amount, y):
    until = time.perf_counter_ns() + int(amount * FACTOR) + EXTRA.get(amount, 0)
    torch.mul(x, 2, out=y)
    while time.perf_counter_ns() < until:
        pass
"""

_SPIN_CUDA = '''import triton
import triton.language as tl

FACTOR = {factor}
EXTRA = {extra}


@triton.jit
def _clock():
    return tl.inline_asm_elementwise("mov.u64 $0, %clock64;", "=l", [], dtype=tl.int64, is_pure=False, pack=1)


@triton.jit
def _double(x, y, n, cycles, BLOCK: tl.constexpr):
    """Twice x, by every program; the spin lies inside the kernel, and the store waits for it."""
    began = _clock()
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n)
    now = began
    while now - began < cycles:
        now = _clock()
    tl.store(y + at, value * 2, mask=at < n)


def run(x, kind, amount, y):
    n = x.numel()
    _double[(triton.cdiv(n, 1024),)](x, y, n, int(amount * FACTOR) + EXTRA.get(amount, 0), BLOCK=1024)
'''


def kinds_task(device: Device) -> Task:
    """One workload a kind of kernel; its uuid is the kind's name."""
    return _task("guard_selftest_kinds", {name: spec for name, spec in KINDS[device].items()})


def power_task() -> Task:
    """A product larger than all of them, alone."""
    return _task("guard_selftest_kinds", {"gemm-16384": _MOST_POWER})


def doses_task(device: Device) -> Task:
    """One workload a dose; its uuid is the dose."""
    return _task("guard_selftest_doses", {f"spin-{dose}": (4096, 0, dose) for dose in DOSES[device]})


def kinds_candidate(device: Device) -> Candidate:
    return _candidate(kinds_task(device), _KINDS_SOURCE)


def doses_candidate(device: Device, factor: float = 1.0, extra: Mapping[int, int] | None = None) -> Candidate:
    """Spins every dose times `factor`, and `extra` for single doses beside."""
    source = _SPIN_CUDA if device == "cuda" else _SPIN_CPU
    text = source.replace("{factor}", repr(factor)).replace("{extra}", repr(dict(extra or {})))
    return _candidate(doses_task(device), text, triton=device == "cuda")


def _task(name: str, rows: Mapping[str, tuple[int, int, int]]) -> Task:
    definition = Definition(
        name=name,
        axes={"N": AxisVar()},
        inputs={
            "x": TensorSpec(shape=("N",), dtype=DType.FLOAT32),
            "kind": TensorSpec(shape=None, dtype=DType.INT32),
            "amount": TensorSpec(shape=None, dtype=DType.INT32),
        },
        outputs={"y": TensorSpec(shape=("N",), dtype=DType.FLOAT32)},
        reference=_REFERENCE,
    )
    workloads = tuple(
        Workload(
            axes={"N": n}, uuid=uuid,
            inputs={"x": RandomInput(), "kind": ScalarInput(value=kind), "amount": ScalarInput(value=amount)},
        )
        for uuid, (n, kind, amount) in rows.items()
    )  # fmt: skip
    return Task(name=name, definition=definition, workloads=workloads)


def _candidate(task: Task, text: str, triton: bool = False) -> Candidate:
    spec = BuildSpec(
        languages=(Language.TRITON if triton else Language.PYTORCH,),
        target_hardware=(Hardware.LOCAL,),
        entry_point="main.py::run",
        destination_passing_style=True,
    )
    source = SourceFile(path="main.py", content=text)
    solution = Solution(
        name=task.name, definition=task.definition.name, author="kernelarc", spec=spec, sources=(source,)
    )
    return Candidate(solution=solution, definition_digest=task.definition.digest)
