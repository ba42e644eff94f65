"""How a candidate's sources become something that can be imported: one kind of language a file."""

from collections.abc import Callable

from guard.languages.cpp import build_cpp
from guard.languages.python import build_python
from guard.staging import Stage
from tasks.candidate import Candidate

Entry = tuple[str, str, str]
"""File to import, module name to give it, and the function's name."""

BUILDERS: dict[str, Callable[[Candidate, Stage, float, str], Entry]] = {
    "python": build_python,
    "cpp": build_cpp,
}


def build(candidate: Candidate, stage: Stage, limit_s: float, device: str) -> Entry:
    """Raises `CandidateFailed` (code `build`) when it does not build, `GuardBroken` when nothing could be built here."""
    return BUILDERS["cpp" if candidate.solution.spec.is_cpp else "python"](candidate, stage, limit_s, device)


__all__ = ["BUILDERS", "Entry", "build"]
