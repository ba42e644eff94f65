"""CUDA C++ sources: nvcc compiles each for the target, and the assembler says what its kernels take."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import time
from pathlib import Path

from guard.compile_report import CompileReport, KernelReport
from tasks.gpu import Gpu
from tasks.solution import Solution

_TORCH = re.compile(r'#\s*include\s*[<"](torch|ATen|c10|pybind11|Python\.h)')
_MISSING = re.compile(r"fatal error: (\S+?): No such file")
_KERNEL = re.compile(
    r"Compiling entry function '(\w+)' for '(\w+)'(.*?)(?=Compiling entry function|\Z)", re.S
)
_TOO_LONG = 124
_OWN_TARGET = re.compile(r"-?-?(gencode|arch|code|generate-code|gpu-architecture)\b|^arch=")


def compile_sources(solution: Solution, folder: Path, gpu: Gpu, limit_s: float) -> CompileReport:
    """Compile every `.cu` in the root of `folder`, where the solution's sources lie.

    Unchecked without nvcc, where a header is missing that the solution does not ship, and where nvcc needs more
    time than there is (torch's headers alone can take minutes). Host files (`.cpp`) are
    left alone: they do not depend on the target.
    """
    started = time.monotonic()
    nvcc = find_nvcc()
    if nvcc is None:
        lack = "nvcc is neither on PATH nor under CUDA_HOME: CUDA sources were not compiled"
        return CompileReport(target=gpu.target, ok=False, checked=False, error=lack)
    kernels: list[KernelReport] = []
    problems: list[str] = []
    lacking: list[str] = []
    for source in sorted(folder.glob("*.cu")):
        code, said = _compile(nvcc, source, solution, gpu, limit_s - (time.monotonic() - started))
        kernels.extend(_kernels(said, gpu))
        missing = _MISSING.search(said)
        if missing and not any(missing[1] == other.path for other in solution.sources):
            lacking.append(f"{source.name}: the header {missing[1]} is not on this machine")
        elif code == _TOO_LONG:
            lacking.append(f"{source.name}: nvcc did not finish within {limit_s:.0f} s")
        elif code:
            problems.append(f"{source.name}: {_first_errors(said) or f'nvcc ended with {code}'}")
    problems.extend(f"{kernel.name}: {kernel.error}" for kernel in kernels if kernel.error)
    return CompileReport(
        target=gpu.target,
        ok=not problems and not lacking,
        checked=bool(problems) or not lacking,
        kernels=tuple(kernels),
        error="; ".join([*problems, *lacking])[:2000],
        seconds=time.monotonic() - started,
        toolchain={"nvcc": _version(nvcc)},
    )


def find_nvcc() -> Path | None:
    """On PATH, else under CUDA_HOME or CUDA_PATH."""
    roots = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH")]
    candidates = [shutil.which("nvcc"), *(f"{root}/bin/nvcc" for root in roots if root)]
    return next((Path(c) for c in candidates if c and Path(c).is_file()), None)


def _compile(nvcc: Path, source: Path, solution: Solution, gpu: Gpu, limit_s: float) -> tuple[int, str]:
    """Exit code and everything that was said."""
    number = gpu.target.removeprefix("sm_")
    command = [
        str(nvcc), "-cubin", f"-gencode=arch=compute_{number},code={gpu.target}", "-Xptxas", "-v",
        "-I", str(source.parent), *_flags(solution), *_torch_flags(source.parent), str(source),
        "-o", str(source.parent / f"{source.stem}.{gpu.target}.cubin"),
    ]  # fmt: skip
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=max(limit_s, 0.01), check=False
        )
    except subprocess.TimeoutExpired:
        return _TOO_LONG, ""
    return done.returncode, done.stdout + done.stderr


def _flags(solution: Solution) -> list[str]:
    """The solution's own flags, as officially without any where it gives no options; never its target."""
    options = solution.spec.compile_options
    flags = list(options.cuda_cflags) if options else []
    standard = [] if any("-std" in flag for flag in flags) else ["-std=c++20"]
    return [*(flag for flag in flags if not _OWN_TARGET.search(flag)), *standard]


def _torch_flags(folder: Path) -> list[str]:
    texts = (path.read_text(errors="replace") for path in folder.rglob("*") if path.suffix in _SUFFIXES)
    if not any(_TORCH.search(text) for text in texts):
        return []
    packages = Path(sysconfig.get_paths()["purelib"])
    torch = packages / "torch" / "include"
    includes = [torch, torch / "torch" / "csrc" / "api" / "include", Path(sysconfig.get_paths()["include"])]
    includes += sorted(packages.glob("nvidia/*/include"))  # cuBLAS and its kind, where they are installed
    # a CPU build of torch lacks the header that its CUDA build configures
    defines = ["-DC10_CUDA_NO_CMAKE_CONFIGURE_FILE", "-DTORCH_EXTENSION_NAME=benchmark_kernel"]
    return [*defines, "--expt-relaxed-constexpr", *(f"-I{path}" for path in includes)]


_SUFFIXES = (".cu", ".cuh", ".h", ".hpp")


def _kernels(said: str, gpu: Gpu) -> list[KernelReport]:
    return [_kernel(name, about, gpu) for name, _, about in _KERNEL.findall(said)]


def _kernel(name: str, about: str, gpu: Gpu) -> KernelReport:
    def number(pattern: str) -> int:
        found = re.search(pattern, about)
        return int(found[1]) if found else 0

    shared, most = number(r"(\d+) bytes smem"), gpu.shared_kib_per_block * 1024
    return KernelReport(
        name=_readable(name),
        target=gpu.target,
        registers=number(r"Used (\d+) registers"),
        spill_bytes=number(r"(\d+) bytes spill stores"),
        shared_bytes=shared,
        error=f"takes {shared} bytes of shared memory, {gpu.name} gives {most}" if shared > most else "",
    )


def _readable(name: str) -> str:
    """The C++ name where a demangler is at hand."""
    tool = shutil.which("c++filt")
    if tool is None:
        return name
    done = subprocess.run([tool, name], capture_output=True, text=True, timeout=10, check=False)
    return done.stdout.strip() or name


def _first_errors(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if "error" in line.lower()]
    return " | ".join(lines[:3])


def _version(nvcc: Path) -> str:
    done = subprocess.run([nvcc, "--version"], capture_output=True, text=True, timeout=30, check=False)
    found = re.search(r"V([\d.]+)", done.stdout)
    return found[1] if found else "unknown"
