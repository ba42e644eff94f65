"""Headers of torch's C++ code, compiled once on a machine for every candidate that torch.compile builds on a CPU.

A worker would compile them anew for each candidate: seven seconds of a core, and always the same bytes. They come from
torch and the compiler alone: the guard makes them before any candidate is near, and candidates may only read them.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

from guard.program_files import ProgramFailed
from guard.runner import run_program
from tasks.candidate import Candidate

_WORD = "torch.compile"
_FOLDER = "precompiled_headers"
_LIMIT_S = 180.0


def is_wanted(candidate: Candidate) -> bool:
    """By its words: who builds otherwise makes the headers for itself, as ever."""
    return any(_WORD in source.content for source in candidate.solution.sources)


def lay_headers(scratch: Path) -> tuple[Path, ...]:
    """Links where a worker's torch looks for its headers; returns the folder they lead to, if there is one.

    `scratch` is empty as yet: where a candidate has written, nothing may be followed.
    """
    kept = _kept()
    if kept is None:
        return ()
    for file in kept.rglob("*"):
        if file.is_file():
            link = scratch / file.relative_to(kept)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file)
    return (kept,)


@cache
def _kept() -> Path | None:
    """The folder of this machine's headers, made when it is missing; None where they cannot be made."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kernelarc"
    kept = root / f"headers-{_digest()[:16]}"
    if kept.is_dir():
        return kept
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=root, prefix="making-") as making:
            scratch = Path(making)
            run_program("guard.headers", {}, limit_s=_LIMIT_S, scratch=scratch)
            (found,) = scratch.glob(f"torchinductor_*/{_FOLDER}")
            shutil.rmtree(found / "locks", ignore_errors=True)
            whole = scratch / "whole"
            whole.mkdir()
            (whole / found.parent.name).mkdir()
            found.rename(whole / found.parent.name / _FOLDER)
            whole.rename(kept)
    except (OSError, ValueError, ProgramFailed):
        return kept if kept.is_dir() else None  # somebody else was faster, or there is no compiler
    return kept


def _digest() -> str:
    """Of all that the compiled bytes depend on."""
    compiler = subprocess.run(
        [os.environ.get("CXX", "g++"), "--version"], capture_output=True, text=True, check=False
    ).stdout
    told = [
        line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith(("flags", "Feat"))
    ]
    parts = (version("torch"), sys.version, sys.prefix, platform.machine(), compiler, *told[:1])
    return hashlib.blake2b("\n".join(parts).encode()).hexdigest()


def main(argv: list[str]) -> None:
    """As a program of the guard's: the smallest function there is, compiled, leaves the headers behind."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(Path(argv[1]).parent / "inductor")
    os.environ["TORCHINDUCTOR_VEC_ISA_OK"] = "1"
    import torch

    torch.compile(lambda x: x + 1)(torch.zeros(64))
    Path(argv[2]).write_text("{}")


if __name__ == "__main__":
    main(sys.argv)
