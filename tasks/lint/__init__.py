"""What the official models swallow in silence, said aloud: file, field, problem, mend."""

from tasks.lint.fold import fold
from tasks.lint.paths import lint_paths
from tasks.lint.solution import solution_findings

__all__ = ["fold", "lint_paths", "solution_findings"]
