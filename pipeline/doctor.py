"""What this machine has and lacks, what each lack costs, and what brings it."""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from pipeline.device import gpu_count
from pipeline.settings import Settings
from tasks.catalogue import DATA_VARIABLE
from tasks.value import Value

OUR_NAMES = ("tasks", "guard", "submissions", "agents", "leaderboard", "pipeline", "scripts")
_PROBE_LIMIT_S = 20
_PROBE = """
import os
from pathlib import Path
from guard.sandbox.seal import enter, leave_common_ground
print(enter("cpu", [], [Path(os.devnull)], "memfd", leave_common_ground("cpu", None)).level)
"""


class Finding(Value):
    """One thing looked for on this machine."""

    name: str
    state: Literal["has", "lacks", "warning"]
    found: str
    """What is there, with its version, or why it is not."""
    cost: str = ""
    """What cannot be done without it."""
    brought_by: str = ""


def examine(settings: Settings) -> list[Finding]:
    """Every check, in the order a reader wants to see them."""
    checks: tuple[Callable[[], Iterable[Finding]], ...] = (
        _machine, _gpu, _packages, _tools, lambda: _data_set(settings), _isolation, foreign_owners,
    )  # fmt: skip
    return [finding for check in checks for finding in check()]


def _machine() -> Iterable[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    yield Finding(name="python", state="has", found=f"{version}, {os.cpu_count()} cores")
    total, free = (os.sysconf("SC_PAGE_SIZE") * os.sysconf(f"SC_{kind}PHYS_PAGES") for kind in ("", "AV"))
    yield Finding(
        name="memory",
        state="has" if total >= 8 * 2**30 else "lacks",
        found=f"{total / 2**30:.0f} GiB, {free / 2**30:.0f} free",
        cost="" if total >= 8 * 2**30 else "large problems do not fit, even shrunk",
    )


def _gpu() -> Iterable[Finding]:
    count, lack = gpu_count()
    if not count:
        yield Finding(
            name="gpu",
            state="lacks",
            found=lack,
            cost="no time is measured: candidates are judged for correctness, and ranked by prediction",
            brought_by="a CUDA 13 GPU with its driver",
        )
        return
    import pynvml

    pynvml.nvmlInit()
    handle = pynvml.nvmlDeviceGetHandleByIndex(0)
    yield Finding(name="gpu", state="has", found=f"{count} x {pynvml.nvmlDeviceGetName(handle)}")
    yield Finding(name="driver", state="has", found=str(pynvml.nvmlSystemGetDriverVersion()))
    may_lock = os.geteuid() == 0
    yield Finding(
        name="clocks",
        state="has" if may_lock else "lacks",
        found="the driver may let root lock them" if may_lock else "only root may lock them",
        cost="" if may_lock else "times wander with the clock: they are interleaved and the clock recorded",
    )
    pynvml.nvmlShutdown()


def _packages() -> Iterable[Finding]:
    needs = (
        ("torch", "torch", "nothing can be judged", "pip install -e ."),
        ("triton", "triton", "Triton candidates cannot be built", "pip install -e ."),
        ("cupti", "cupti-python", "times come from CUDA events, 3 us coarser", "pip install -e '.[gpu]'"),
        ("cupy", "cupy-cuda13x", "candidates that import cupy fail", "pip install -e '.[gpu]'"),
        ("flashinfer", "flashinfer-python", "FlashInfer candidates fail", "pip install -e '.[flashinfer]'"),
        ("pyarrow", "pyarrow", "the data set's parquet files cannot be read", "pip install -e '.[data]'"),
        ("optuna", "optuna", "template agents cannot tune their knobs", "pip install -e ."),
    )
    for module, distribution, cost, brought_by in needs:
        version = _version(distribution) if importlib.util.find_spec(module) else None
        if version:
            yield Finding(name=module, state="has", found=version)
        else:
            yield Finding(name=module, state="lacks", found="not installed", cost=cost, brought_by=brought_by)


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "of unknown version"


def _tools() -> Iterable[Finding]:
    needs = (
        ("nvcc", "C++/CUDA candidates cannot be built or cross-compiled", "the CUDA 13 toolkit"),
        ("ninja", "C++/CUDA candidates cannot be built", "pip install -e '.[gpu]'"),
        ("ncu", "no hardware counters: profiles are left out", "Nsight Compute"),
    )
    for tool, cost, brought_by in needs:
        path = shutil.which(tool) or shutil.which(tool, path=str(Path(sys.executable).parent))
        if path:
            yield Finding(name=tool, state="has", found=path)
        else:
            yield Finding(name=tool, state="lacks", found="not on PATH", cost=cost, brought_by=brought_by)


def _data_set(settings: Settings) -> Iterable[Finding]:
    wanted = settings.data or tuple(
        map(Path, filter(None, os.environ.get(DATA_VARIABLE, "").split(os.pathsep)))
    )
    roots = [root for root in wanted if root.is_dir()]
    if not roots:
        yield Finding(
            name="data set",
            state="lacks",
            found="no --data and no $SOL_EXECBENCH_DATA that is a folder",
            cost="only the shipped tasks are known",
            brought_by="kernelarc data download",
        )
        return
    yield Finding(name="data set", state="has", found=", ".join(map(str, roots)))
    blobs = [root for root in (*roots, *_trace_folders()) if next(root.rglob("*.safetensors"), None)]
    if blobs:
        yield Finding(name="blobs", state="has", found=", ".join(map(str, blobs)))
    else:
        yield Finding(
            name="blobs",
            state="lacks",
            found="no *.safetensors under the data roots or $FLASHINFER_TRACE_DIR",
            cost="inputs of 9 FlashInfer problems are synthesised: such a result stays a draft",
            brought_by="kernelarc data download",
        )


def _trace_folders() -> list[Path]:
    folder = os.environ.get("FLASHINFER_TRACE_DIR")
    return [Path(folder)] if folder and Path(folder).is_dir() else []


def _isolation() -> Iterable[Finding]:
    """The guard's own sandbox, entered in a process made for it: what was reached there is what there is."""
    from guard.sandbox.seal import DEFAULT_LEVELS

    root = Path(__file__).parent.parent
    try:
        probe = subprocess.run(
            [sys.executable, "-c", _PROBE], cwd=root, capture_output=True, text=True, timeout=_PROBE_LIMIT_S
        )
        reached = probe.stdout.strip() or f"none ({probe.stderr.strip().splitlines()[-1:]})"
    except subprocess.TimeoutExpired:
        reached = "none (the probe hung)"
    lacking = sorted(set(DEFAULT_LEVELS["cpu"].split("+")) - set(reached.split("+")))
    yield Finding(
        name="sandbox",
        state="lacks" if lacking else "has",
        found=reached,
        cost=f"without {' and '.join(lacking)} no submission is leaderboard-ready" if lacking else "",
        brought_by="a Linux kernel of 5.13 or later, or root" if lacking else "",
    )


def foreign_owners() -> Iterable[Finding]:
    """Our packages are imported by their plain names, so no other distribution may own one of them."""
    owners = importlib.metadata.packages_distributions()
    for name in OUR_NAMES:
        others = sorted({owner for owner in owners.get(name, ()) if owner != "kernelarc"})
        if others:
            yield Finding(
                name=name,
                state="warning",
                found=f"the package `{name}` is also installed by {', '.join(others)}",
                cost="imports may find theirs instead of ours",
                brought_by=f"pip uninstall {others[0]}",
            )
