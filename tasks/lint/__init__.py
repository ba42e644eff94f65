"""What the official models swallow in silence, said aloud: file, field, problem, mend."""

from tasks.lint.fold import fold
from tasks.lint.paths import is_name, lint_paths
from tasks.lint.solution import solution_findings

__all__ = ["fold", "is_name", "lint_paths", "solution_findings"]
