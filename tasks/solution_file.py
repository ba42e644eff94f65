"""Reading and writing official solution files."""

import json
import re
from pathlib import Path, PurePosixPath
from typing import Any

from tasks.definition import Definition
from tasks.document import Document, read_json, read_text
from tasks.errors import TaskError
from tasks.solution import Solution
from tasks.source_paths import path_faults
from tasks.task import LintFinding
from tasks.validation import validated

SOLUTION = "solution.json"


def load_solution(path: Path, definition: Definition | None = None) -> Solution:
    """The solution in `path` (a file, or a folder with `solution.json`).

    A source without content is read from beside the file, as the public evaluator does. With `definition`,
    a solution written for another one is a `TaskError`, since its results would be filed under a wrong name.
    So is a source path that no file can have: the guard would have to lay that file out.
    """
    document, _ = read_solution(path)
    solution = validated(Solution, document)
    for fault in path_faults([source.path for source in solution.sources]):
        raise document.fault(f"sources[{fault.place}].path", fault.problem, fault.mend)
    if definition is not None and not is_for(solution, definition):
        raise document.fault(
            "definition",
            f"names {solution.definition!r}, but the task is {definition.name!r}",
            "choose the other task, or correct the name",
        )
    return solution


def read_solution(path: Path) -> tuple[Document, tuple[LintFinding, ...]]:
    """The file's content with every source inline, and a finding for each that was not."""
    document = read_json(_file_of(path))
    sources = document.content.get("sources")
    if not isinstance(sources, list):
        return document, ()
    folder, findings, filled = Path(document.file).parent, [], []
    for index, source in enumerate(sources):
        content = _beside(source, folder)
        if content is None:
            filled.append(source)
            continue
        filled.append({**source, "content": content})
        findings.append(
            document.finding(
                "warning",
                "source-not-inline",
                f"sources[{index}].content",
                f"is taken from {source['path']!r} beside the file; an upload has no such file",
                "write the content into the solution",
            )
        )
    return document.model_copy(update={"content": {**document.content, "sources": filled}}), tuple(findings)


def _file_of(path: Path) -> Path:
    if not path.is_dir():
        return path
    if not (path / SOLUTION).exists() and not (path / SOLUTION).is_symlink():
        raise TaskError(f"is a folder without {SOLUTION}", file=path, mend="give the solution file itself")
    return path / SOLUTION


def write_solution(solution: Solution) -> str:
    """Official field order, every default spelt out, null left out; the same text for the same solution.

    Spelling the defaults out is what keeps a later reader from the traps of partial compile options.
    """
    content = solution.model_dump(mode="json", exclude_none=True)
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def is_for(solution: Solution, definition: Definition) -> bool:
    """Whether the names agree, a subset and the `NNN_` before either left out."""
    return _bare(solution.definition) == _bare(definition.name)


def _bare(name: str) -> str:
    return re.sub(r"^\d{3}_", "", name.rsplit("/", 1)[-1])


def _beside(source: Any, folder: Path) -> str | None:
    """The text of the file that a source names and does not hold."""
    if not isinstance(source, dict) or source.get("content") or not isinstance(source.get("path"), str):
        return None
    path = PurePosixPath(source["path"])
    if path.is_absolute() or ".." in path.parts or "\0" in source["path"]:
        return None
    try:
        return read_text(folder / path)
    except TaskError as error:
        if (folder / path).exists():
            raise error
        return None
