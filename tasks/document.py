"""Reading JSON that anyone may have written: bounded, strict UTF-8, every fault one sentence."""

import errno
import json
import math
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from tasks.errors import TaskError
from tasks.task import LintFinding
from tasks.value import Value

LARGEST_FILE = 64 * 2**20
"""Bytes. The largest official workload file takes 0.2 MiB; a trace file with full logs a few."""
_DAMAGED = "correct it there: a truncated copy, a missing bracket or a trailing comma are usual"
_OS_FAULTS = {
    errno.ENOENT: ("does not exist", "check the path"),
    errno.ENOTDIR: ("lies below a file, not a folder", "check the path"),
    errno.EACCES: ("may not be read", "change its permissions"),
    errno.ELOOP: ("is a loop of symbolic links", "replace the link by the file"),
    errno.ENAMETOOLONG: ("has too long a name", "check the path"),
}


class Document(Value):
    """One JSON value with where it came from."""

    file: str
    place: str = ""
    """Inside the file: `line 3` of a .jsonl, `row 2` of a table."""
    content: Any
    doubled: tuple[str, ...] = ()
    """Keys that an object gives twice; JSON readers keep the last."""

    def at(self, field: str = "") -> str:
        return ": ".join(part for part in (self.place, field) if part) or "whole file"

    def fault(self, field: str, problem: str, mend: str) -> TaskError:
        return TaskError(problem, file=self.file, field=self.at(field), mend=mend)

    def finding(
        self, level: Literal["error", "warning", "note"], code: str, field: str, problem: str, mend: str
    ) -> LintFinding:
        return LintFinding(
            level=level, code=code, file=self.file, field=self.at(field), problem=problem, mend=mend
        )


def regular(path: Path) -> Path:
    """`path`, about to be read. `OSError` for what exists and is no file: a pipe would be waited for."""
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is no file")
    return path


def read_text(path: Path) -> str:
    """The text of a regular UTF-8 file of at most `LARGEST_FILE` bytes; `TaskError` otherwise."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            what = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise TaskError(f"is {what}", file=path, mend="name the file itself")
        if status.st_size > LARGEST_FILE:
            raise TaskError(
                f"holds {status.st_size / 2**20:.0f} MiB, more than the {LARGEST_FILE // 2**20} MiB allowed",
                file=path,
                mend="check that it is the right file",
            )
        return _decoded(path.read_bytes(), path)
    except OSError as error:
        problem, mend = _OS_FAULTS.get(
            error.errno or 0, (f"cannot be read: {error.strerror}", "check the path")
        )
        raise TaskError(problem, file=path, mend=mend) from error


def _decoded(content: bytes, path: Path) -> str:
    if content.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        raise TaskError("starts with a byte-order mark", file=path, mend="save it as UTF-8 without one")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise TaskError(f"is not UTF-8 at byte {error.start}", file=path, mend="save it as UTF-8") from error


def read_json(path: Path) -> Document:
    return parse_json(read_text(path), str(path))


def read_json_lines(path: Path) -> tuple[Document, ...]:
    """One document a line; blank lines are skipped but counted."""
    lines = read_text(path).split("\n")
    return tuple(
        parse_json(line, str(path), f"line {n}") for n, line in enumerate(lines, start=1) if line.strip()
    )


def parse_json(text: str, file: str, place: str = "") -> Document:
    """`TaskError` for what is no JSON object; NaN and infinities are none, though Python would read them."""
    doubled: list[str] = []

    def gather(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        gathered = dict(pairs)
        if len(gathered) < len(pairs):
            names = [name for name, _ in pairs]
            doubled.extend(sorted({name for name in names if names.count(name) > 1}))
        return gathered

    empty = Document(file=file, place=place, content=None)
    try:
        content = json.loads(text, object_pairs_hook=gather)
    except json.JSONDecodeError as error:
        where = f"column {error.colno}" if place else f"line {error.lineno} column {error.colno}"
        raise empty.fault(where, f"is not JSON ({error.msg})", _DAMAGED) from error
    except RecursionError as error:
        raise empty.fault("", "nests too deeply to be read", "check that it is the right file") from error
    except ValueError as error:
        raise empty.fault("", "holds a number of thousands of digits", "write a smaller number") from error
    if not isinstance(content, dict):
        raise empty.fault("", f"should be an object, not {kind_of(content)}", "write `{...}`")
    document = Document(file=file, place=place, content=content, doubled=tuple(doubled))
    _refuse_unwritable(document)
    return document


def _refuse_unwritable(document: Document) -> None:
    for path, leaf in _leaves(document.content):
        if isinstance(leaf, float) and not math.isfinite(leaf):
            raise document.fault(
                json_path(path), f"is {leaf}, which is no JSON number", "write a finite number"
            )
        if isinstance(leaf, str) and not _encodable(leaf):
            raise document.fault(json_path(path), "holds half a surrogate pair", "write whole characters")


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _leaves(content: Any) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    pending: list[tuple[tuple[str | int, ...], Any]] = [((), content)]
    while pending:
        path, node = pending.pop()
        if isinstance(node, dict):
            for key, value in node.items():
                yield (*path, key), key
                pending.append(((*path, key), value))
        elif isinstance(node, list):
            pending.extend(((*path, index), item) for index, item in enumerate(node))
        else:
            yield path, node


def json_path(parts: Sequence[str | int]) -> str:
    """`inputs.x.shape[0]`; a key that is no plain word stands in brackets."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif part.replace("_", "a").replace("-", "a").isalnum() and len(part) <= 60:
            text += f".{part}" if text else part
        else:
            text += f"[{part[:60]!r}]"
    return text


def kind_of(value: Any) -> str:
    """What a JSON value is, in words for a sentence."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case int() | float():
            return f"the number {value:.6g}" if isinstance(value, float) else f"the number {value}"[:60]
        case str():
            return f"the text {value if len(value) <= 40 else value[:37] + '...'!r}"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case _:
            return "an object"
