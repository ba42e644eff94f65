"""The file of measurements: a line a process, appended as it is measured, gone on with later, pooled with others.

A header begins a shard; pooled files are shards one after the other. Nothing written is ever changed.
"""

import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from pydantic import ValidationError

from guard.duel_record import Header, Line, ProcessRecord, Published, Shard
from guard.errors import GuardBroken
from tasks.document import regular
from tasks.errors import TaskError
from tasks.value import canonical_json

_ENDS = b"\n"


class Contents(NamedTuple):
    """What a file holds; `published` in the order written, each with the shards as they stood before it."""

    shards: tuple[Shard, ...]
    published: tuple[tuple[tuple[Shard, ...], Published], ...]

    @property
    def last(self) -> Published | None:
        return self.published[-1][1] if self.published else None


class Campaign:
    """A file of one shard, open for appending and held by one process; use as a context manager."""

    def __init__(self, path: Path, stream: int, header: Header, done: Sequence[ProcessRecord]) -> None:
        self.path, self.header, self.done = path, header, tuple(done)
        self._stream = stream

    @classmethod
    def open(cls, path: Path, header: Header) -> Self:
        """A new file that begins with `header`, or the old one, where it was begun under a comparable header.

        `TaskError` when it was not, when it is pooled already, or when another process writes it.
        """
        try:
            stream = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise TaskError(
                f"cannot be written ({error.strerror})", file=path, mend="check the path"
            ) from None
        try:
            return cls._held(path, stream, header)
        except BaseException:
            os.close(stream)
            raise

    @classmethod
    def _held(cls, path: Path, stream: int, header: Header) -> Self:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise TaskError("another process is writing it", file=path, mend="wait for it") from None
        content = path.read_bytes()
        whole = content[: content.rfind(_ENDS) + 1]
        if not whole:
            os.ftruncate(stream, 0)
            _append(stream, header.model_dump(mode="json"))
            return cls(path, stream, header, ())
        shards = read(path).shards
        if len(shards) != 1:
            mend = "go on with one of the shards it was pooled from"
            raise TaskError("is pooled from several shards", file=path, mend=mend)
        refuse_other(shards[0].header, header, path)
        os.ftruncate(stream, len(whole))  # what a crash tore off
        return cls(path, stream, shards[0].header, shards[0].processes)

    def keep(self, record: ProcessRecord | Published) -> None:
        """One write and one sync: after a crash the line is there, or torn and cut away."""
        _append(self._stream, Line.of(record).content)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._stream)


def read(path: Path) -> Contents:
    """All whole lines; what follows the last line end was torn off. `TaskError` names the line that is none."""
    try:
        content = regular(path).read_bytes()
    except OSError as error:
        raise TaskError(
            f"cannot be read ({error.strerror})", file=path, mend="give a file that `compare --out` wrote"
        ) from None
    lines = content.split(_ENDS)[:-1]
    shards: list[Shard] = []
    published: list[tuple[tuple[Shard, ...], Published]] = []
    for number, line in enumerate(lines, 1):
        parsed = _parsed(line, path, number, first=not shards)
        if isinstance(parsed, Header):
            shards.append(Shard(header=parsed))
        elif parsed.process is not None:
            shards[-1] = shards[-1].model_copy(update={"processes": (*shards[-1].processes, parsed.process)})
        elif parsed.published is not None:
            published.append((tuple(shards), parsed.published))
    if not shards:
        raise TaskError("holds no measurements", file=path, mend="give a file that `compare --out` wrote")
    return Contents(tuple(shards), tuple(published))


def _parsed(line: bytes, path: Path, number: int, first: bool) -> Header | Line:
    kind = Header if first or line.startswith(b'{"baseline":') else Line
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        said = error.errors()[0]["msg"]
        raise TaskError(
            f"is no line that this version writes ({said})", file=path, field=f"line {number}",
            mend="it was edited, or is another file",
        ) from None  # fmt: skip


def pool(files: Sequence[Path]) -> tuple[Shard, ...]:
    """The shards of all files, where they may be pooled; `TaskError` names the first that may not, and why."""
    shards: list[Shard] = []
    for path in files:
        for shard in read(path).shards:
            if shards:
                refuse_other(shards[0].header, shard.header, path)
            if any(shard.header.shard == other.header.shard for other in shards):
                raise TaskError("its shard is there already", file=path, mend="give each file once")
            shards.append(shard)
    return tuple(shards)


def write_pooled(path: Path, shards: Sequence[Shard], published: Published) -> None:
    """A file of several shards and what is said of them; never over another file."""
    lines: list[dict[str, Any]] = []
    for shard in shards:
        lines.append(shard.header.model_dump(mode="json"))
        lines += [Line.of(p).content for p in shard.processes]
    lines.append(Line.of(published).content)
    with path.open("xb") as stream:
        stream.writelines(canonical_json(line).encode() + _ENDS for line in lines)


def refuse_other(one: Header, other: Header, file: Path) -> None:
    """`TaskError`, in one sentence, when times under `other` must not be pooled with times under `one`."""
    for what, field, here, there in _comparables(one, other):
        if here != there:
            raise TaskError(
                f"{what} differ: {_short(here)} there, {_short(there)} here; such times are never pooled",
                file=file, field=field, mend="begin another file",
            )  # fmt: skip


def _comparables(one: Header, other: Header) -> Iterator[tuple[str, str, Any, Any]]:
    a, b = one.environment, other.environment
    yield "the tasks", "task_digest", one.task_digest, other.task_digest
    yield "the baselines", "baseline", one.baseline.digest, other.baseline.digest
    yield "the candidates", "candidate", one.candidate.digest, other.candidate.digest
    yield "the timers", "timer", one.timer, other.timer
    yield "the devices", "environment.device", a.device, b.device
    yield "the cards", "environment.uuid", a.uuid, b.uuid
    yield "the drivers", "environment.driver", a.driver, b.driver
    yield "the clock policies", "clock_policy", one.clock_policy, other.clock_policy
    for library in sorted({*a.libraries, *b.libraries}):
        versions = a.libraries.get(library), b.libraries.get(library)
        yield f"the versions of {library}", f"environment.libraries.{library}", *versions
    yield "the protocols", "terms.name", one.terms.name, other.terms.name
    yield "the terms", "terms", one.terms.digest, other.terms.digest


def _short(value: Any) -> str:
    return str(value)[:40]


def _append(stream: int, content: dict[str, Any]) -> None:
    line = canonical_json(content).encode() + _ENDS
    before = os.fstat(stream).st_size
    try:
        if os.write(stream, line) != len(line):
            raise GuardBroken(
                "the disk is full: the last line was not kept; free some space and run it again"
            )
        os.fsync(stream)
    except BaseException:
        os.ftruncate(stream, before)
        raise
