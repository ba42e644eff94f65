"""C++ and CUDA: built as the official evaluator builds, into one torch extension, in a process without the problem."""

import re
import shutil

from guard.blame import CandidateFailed
from guard.environment import gpu_architecture
from guard.errors import GuardBroken
from guard.program_files import ProgramFailed
from guard.runner import run_program
from guard.staging import Stage
from guard.verdict import ReasonCode
from tasks.candidate import Candidate

MODULE = "benchmark_kernel"
_ALLOWED_FLAG = re.compile(
    r"-O[0-3s]?|-g|-G|-std=\S+|-gencode=?\S*|-arch=\S+|arch=\S+|-D\w+(=[\w.\-+]*)?|-U\w+|-l[\w.+\-]+|-W[\w\-=]*|-w|-f(?!plugin)[\w\-=]+"
    r"|-m[\w\-=.]+|--use_fast_math|-use_fast_math|--expt-[\w\-]+|--extended-lambda|-extended-lambda|-lineinfo|--ptxas-options=\S+"
    r"|-Xptxas(=\S+)?|-Xcompiler(=\S+)?|-v|-dlcm=\w+|--maxrregcount=?\d*|-maxrregcount=?\d*|-rdc=\w+|-lineinfo|\d+|--threads=?\d*"
)


def build_cpp(candidate: Candidate, stage: Stage, limit_s: float, device: str) -> tuple[str, str, str]:
    """`GuardBroken` where no CUDA tool chain or GPU is: that such a candidate cannot be judged here is not its fault."""
    if device == "cpu":
        raise GuardBroken(
            "a C++/CUDA candidate can only be judged on a machine with a GPU; here it can be cross-compiled"
        )
    if shutil.which("nvcc") is None:
        raise GuardBroken("there is no nvcc on the PATH to build the candidate with")
    _check_flags(candidate)
    if not (stage.built / f"{MODULE}.so").exists():
        _build(candidate, stage, limit_s)
    return f"{MODULE}.so", MODULE, candidate.solution.spec.entry_function


def _build(candidate: Candidate, stage: Stage, limit_s: float) -> None:
    request = {
        "solution": candidate.solution.model_dump(mode="json"),
        "folder": str(stage.built),
        "module": MODULE,
        "architecture": gpu_architecture(),
    }
    try:
        reply = run_program("guard.languages.cpp_build", request, limit_s=limit_s, scratch=stage.built)
    except ProgramFailed as error:
        code = ReasonCode.TIMEOUT if error.stage == "timeout" else ReasonCode.BUILD
        raise CandidateFailed(code, f"build: {error}", "build") from error
    if reply.get("error"):
        raise CandidateFailed(ReasonCode.BUILD, str(reply["error"])[:2000], "build")


def _check_flags(candidate: Candidate) -> None:
    """Flags may choose how code is generated; they may not name files, plug-ins or programs."""
    options = candidate.solution.spec.compile_options
    for flag in (*options.cflags, *options.cuda_cflags, *options.ld_flags) if options else ():
        if not _ALLOWED_FLAG.fullmatch(flag):
            raise CandidateFailed(
                ReasonCode.PATH, f"compiler flag {flag!r} is not on the list of allowed ones", "build"
            )
