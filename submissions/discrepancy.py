"""What `verify` finds: one place in a submission that does not hold."""

from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError

from tasks.document import json_path
from tasks.errors import TaskError
from tasks.value import Value


class Discrepancy(Value):
    file: str
    field: str
    problem: str

    def __str__(self) -> str:
        return f"{self.file} `{self.field}`: {self.problem}"


def unreadable(file: str, error: Exception) -> Discrepancy:
    """`error` is what parsing `file` raised; where it names a field, so does the discrepancy."""
    if isinstance(error, TaskError):
        return Discrepancy(file=file, field=error.field or "content", problem=error.problem)
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return Discrepancy(file=file, field=json_path(first["loc"]) or "content", problem=first["msg"])
    return Discrepancy(file=file, field="content", problem=str(error).splitlines()[0])


def differences(file: str, expected: Any, found: Any, field: str = "") -> Iterator[Discrepancy]:
    """Where two JSON contents differ, by the deepest field; `field` is where they stand (`line 3: `)."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in sorted({*expected, *found}):
            below = f"{field}.{name}" if field and not field.endswith(" ") else f"{field}{name}"
            yield from differences(file, expected.get(name), found.get(name), below)
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, pair in enumerate(zip(expected, found, strict=True)):
            yield from differences(file, *pair, f"{field}[{number}]")
    elif type(expected) is not type(found) or expected != found:
        problem = f"it is {_short(found)}; what is known gives {_short(expected)}"
        yield Discrepancy(file=file, field=field or "content", problem=problem)


def _short(content: Any) -> str:
    text = repr(content)
    return text if len(text) <= 120 else f"{text[:117]}..."
