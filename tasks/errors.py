"""The one exception for a definition's, a workload's or a solution file's own fault."""

from pathlib import Path


class TaskError(Exception):
    """What was given cannot be used: says in one sentence which file, which field, and the mend.

    The command line turns it into exit code 2.
    """

    def __init__(
        self, problem: str, *, file: str | Path | None = None, field: str | None = None, mend: str = ""
    ) -> None:
        self.problem, self.file, self.field, self.mend = problem, file, field, mend
        where = " ".join(str(part) for part in (file, field and f"`{field}`") if part)
        sentence = f"{where}: {problem}" if where else problem
        super().__init__(f"{sentence}; {mend}" if mend else sentence)


class FieldFault(ValueError):
    """Raised inside a model's own check; `tasks.validation` makes it a `TaskError` with the file's name."""

    def __init__(self, field: str, problem: str, mend: str) -> None:
        self.field, self.problem, self.mend = field, problem, mend
        super().__init__(f"{field}: {problem}; {mend}")
