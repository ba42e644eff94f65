"""What one setting of a family took on one workload: a line of a landscape, or of a recorded verdict."""

import json
from collections.abc import Iterable
from pathlib import Path

from tasks.document import regular
from tasks.errors import TaskError
from tasks.value import Value

Setting = bool | int | str
Shape = tuple[str, tuple[tuple[str, int], ...]]
"""A family and the sizes of a workload."""


class Record(Value):
    """Times rank settings of one shape; two shapes' are compared only as shares of each one's best."""

    family: str
    axes: dict[str, int]
    knobs: dict[str, Setting]
    ms: float | None = None
    """None: it did not compile, run or give the right numbers, as `failure` says."""
    failure: str | None = None
    registers: int | None = None
    """Most of any kernel, a thread."""
    shared_bytes: int | None = None
    """Most of any kernel, a program."""
    task: str | None = None

    @property
    def shape(self) -> Shape:
        return self.family, tuple(sorted(self.axes.items()))


def read_records(paths: Iterable[Path]) -> tuple[Record, ...]:
    """Of files and of all `*.jsonl` in folders, in the order of their names. Raises `TaskError`.

    A file is a landscape: a line `{"header": {"family": ..., "task": ...}}`, then a line a setting and workload.
    """
    files = [file for path in paths for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    return tuple(record for file in files for record in _records_of(file))


def _records_of(file: Path) -> list[Record]:
    try:
        text = regular(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror or "").lower() if isinstance(error, OSError) else "it is no UTF-8"
        raise TaskError(
            f"cannot be read ({why})",
            file=file,
            field="--warm-start",
            mend="name a landscape, a folder of them, or a run",
        ) from None
    lines = text[: text.rfind("\n") + 1].splitlines()  # the last one may have been cut off
    found: list[Record] = []
    about: dict[str, str | None] = {}
    number = 1
    try:
        for number, line in enumerate(lines, 1):
            content = json.loads(line)
            if number == 1:
                about = {"family": content["header"]["family"], "task": content["header"].get("task")}
            else:
                found.append(_record(content, about))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise TaskError(
            "is no line of a landscape",
            file=file,
            field=f"line {number}",
            mend="record it with scripts.landscape",
        ) from None
    return found


def _record(line: dict[str, object], about: dict[str, str | None]) -> Record:
    """Lines hold more than is learned from, so what is not known here is passed over."""
    known = {name: line[name] for name in Record.model_fields if name in line}
    return Record.model_validate({**known, **about})
