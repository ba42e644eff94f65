"""Python and what is embedded in it (Triton, CuTe DSL, cuTile): nothing to build.

Not even the syntax is looked at here: reading hostile source takes memory and time, and the worker has limits.
"""

from guard.staging import Stage
from tasks.candidate import Candidate


def build_python(candidate: Candidate, stage: Stage, limit_s: float, device: str) -> tuple[str, str, str]:
    spec = candidate.solution.spec
    return spec.entry_file, f"candidate_{candidate.digest[:16]}", spec.entry_function
