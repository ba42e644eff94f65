"""The journal of a run: one JSON line an event, on disk before the next step is taken."""

import errno
import fcntl
import json
import os
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import ValidationError

from agents.memory import Conclusion
from tasks.errors import TaskError
from tasks.value import Value

Kind = Literal[
    "asked", "judged", "duplicate", "unlike", "fault", "rested", "retired", "conclusion", "drafting",
    "searched", "final", "champion", "finished", "note",
]  # fmt: skip


class Event(Value):
    """One thing that happened. A `note` (stopped, resumed, a broken guard) is passed over by a replay."""

    event: Kind
    agent: str | None = None
    candidate: str | None = None
    strategy: str | None = None
    status: str | None = None
    reason: str | None = None
    latency_ms: float | None = None
    predicted_ms: float | None = None
    verdict: str | None = None
    """Digest of what was said of the candidate."""
    ruling: str | None = None
    """REJECT, KEEP, ACCEPT or REVERT."""
    skill: str | None = None
    """What its agent was asked to work by."""
    number: int | None = None
    """Of an agent's asks, from 1, where its process ended over it: a replay must not ask that again."""
    cost: dict[str, int] | None = None
    """What the proposal cost its proposer, such as tokens."""
    conclusion: Conclusion | None = None
    text: str | None = None


class Journal:
    """Append-only, and held by one process at a time. What a crash tore off the last line is cut away."""

    def __init__(self, path: Path, header: Any, events: list[Event], stream: int) -> None:
        self.path, self.header = path, header
        self._stream = stream
        self._to_replay = [event for event in events if event.event != "note"]
        self.replayed = 0
        self.has_diverged = False

    @classmethod
    def create(cls, path: Path, header: dict[str, Any]) -> Self:
        """A new journal whose first line is `header`. Raises `FileExistsError`."""
        stream = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND, 0o644)
        _hold(stream, path)
        _write_line(stream, header)
        _sync_folder(path.parent)
        return cls(path, header, [], stream)

    @classmethod
    def open(cls, path: Path) -> Self:
        """A journal to go on with. Raises `TaskError` when it is none, or when another process writes it."""
        lines = _whole_lines(path)
        header = _parsed(lines[0], path, 1)
        events = [_event(_parsed(line, path, n), path, n) for n, line in enumerate(lines[1:], 2)]
        stream = os.open(path, os.O_RDWR | os.O_APPEND)
        _hold(stream, path)
        os.ftruncate(stream, sum(len(line) + 1 for line in lines))
        return cls(path, header, events, stream)

    def append(self, event: Event) -> None:
        """Writes `event`, unless the run is being replayed and this is what was written the first time.

        When a replay takes another turn (an agent that is not deterministic), what follows in the old
        record is left standing, a note says so, and the run goes on as a live one.
        """
        if event.event != "note" and self.is_replaying:
            if self._to_replay[self.replayed] == event:
                self.replayed += 1
                return
            self.replayed, self.has_diverged = len(self._to_replay), True
            self.append(Event(event="note", text="an agent asked something else than at the first run"))
        _write_line(self._stream, event.model_dump(mode="json", exclude_none=True))

    @property
    def faults(self) -> dict[tuple[str, int], str]:
        """Asks over which a process ended at the first run, by agent and number: they are not made again."""
        return {
            (event.agent, event.number): event.text or ""
            for event in self._to_replay
            if event.event == "fault" and event.agent is not None and event.number is not None
        }

    @property
    def is_replaying(self) -> bool:
        return self.replayed < len(self._to_replay)

    def close(self) -> None:
        if self._stream >= 0:
            os.close(self._stream)
            self._stream = -1


def read_events(path: Path) -> tuple[Any, list[Event]]:
    """Header and events, for reading alone."""
    lines = _whole_lines(path)
    events = [_event(_parsed(line, path, n), path, n) for n, line in enumerate(lines[1:], 2)]
    return _parsed(lines[0], path, 1), events


def _whole_lines(path: Path) -> list[bytes]:
    try:
        if path.exists() and not path.is_file():
            raise OSError(errno.EINVAL, "no file")
        content = path.read_bytes()
    except OSError as error:
        raise TaskError(
            f"cannot be read ({(error.strerror or str(error)).lower()})",
            file=path,
            mend="give the folder of a run",
        ) from None
    lines = content.split(b"\n")[:-1]
    if not lines:
        raise TaskError("nothing was begun in this run", file=path, mend="start a new one")
    return lines


def _parsed(line: bytes, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise TaskError(
            "is not a JSON line: the journal was edited",
            file=path,
            field=f"line {number}",
            mend="put it back from a copy, or begin a new run",
        ) from None


def _event(content: Any, path: Path, number: int) -> Event:
    try:
        return Event.model_validate(content)
    except ValidationError:
        raise TaskError(
            "is no event this version knows", file=path, field=f"line {number}", mend="begin a new run"
        ) from None


def _hold(stream: int, path: Path) -> None:
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(stream)
        raise TaskError("another process is writing this run", file=path, mend="wait for it") from None


def _write_line(stream: int, content: dict[str, Any]) -> None:
    """One write and one sync a line: after a crash the line is there, or torn and cut away."""
    line = json.dumps(content, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    before = os.fstat(stream).st_size
    try:
        if os.write(stream, line) != len(line):
            raise OSError(28, "No space left on device")
        os.fsync(stream)
    except OSError:
        os.ftruncate(stream, before)
        raise


def _sync_folder(folder: Path) -> None:
    stream = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(stream)
    finally:
        os.close(stream)
