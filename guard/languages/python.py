"""Python and what is embedded in it (Triton, CuTe DSL, cuTile): nothing to build, only syntax to check."""

from guard.processes import CandidateFailed
from guard.staging import Stage
from guard.verdict import ReasonCode
from tasks.candidate import Candidate


def build_python(candidate: Candidate, stage: Stage, limit_s: float, device: str) -> tuple[str, str, str]:
    spec = candidate.solution.spec
    for source in candidate.solution.sources:
        if source.path.endswith(".py"):
            try:
                compile(source.content, source.path, "exec", dont_inherit=True)
            except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
                raise CandidateFailed(
                    ReasonCode.IMPORT, f"{source.path} is not valid Python: {error}", "raised"
                ) from error
    return spec.entry_file, f"candidate_{candidate.digest[:16]}", spec.entry_function
