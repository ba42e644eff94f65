"""The submission desk: a ledger of what was sent and what came back.

Nothing here talks to a portal. A person uploads by hand and says so.
"""

import fcntl
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import Field, TypeAdapter, ValidationError, field_validator

from tasks.document import read_text
from tasks.errors import TaskError
from tasks.value import Value, canonical_json


def _moment(text: str) -> str:
    if datetime.fromisoformat(text).tzinfo is None:
        raise ValueError(f"{text!r} has no UTC offset")
    return text


class Sent(Value):
    event: Literal["sent"] = "sent"
    file_digest: str
    """sha256 of solution.json, byte for byte as it was uploaded."""
    submission: str
    """Digest of the submission it belongs to."""
    task: str
    mode: Literal["private", "release"]
    at: str
    """ISO 8601 with its offset."""
    portal_id: str = ""
    """What the portal calls it, where that is known."""
    stated: dict[str, str] = {}
    """What it was made with, by `leaderboard.drift`'s names: evaluator, data, T_SOL."""

    _checked = field_validator("at")(_moment)


class Result(Value):
    event: Literal["result"] = "result"
    file_digest: str
    status: Literal["passed", "failed"]
    score: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    latency_ms: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    stack: str = ""
    """Version of the portal's evaluation stack, as it says it."""
    at: str

    _checked = field_validator("at")(_moment)


Entry = Annotated[Sent | Result, Field(discriminator="event")]
_ENTRY: TypeAdapter[Sent | Result] = TypeAdapter(Entry)


class Ledger(NamedTuple):
    entries: tuple[Sent | Result, ...]

    @property
    def sent(self) -> tuple[Sent, ...]:
        return tuple(e for e in self.entries if isinstance(e, Sent))

    @property
    def results(self) -> tuple[Result, ...]:
        return tuple(e for e in self.entries if isinstance(e, Result))

    @property
    def in_flight(self) -> tuple[Sent, ...]:
        """Sent, and more often than answered."""
        answers = [r.file_digest for r in self.results]
        waiting = []
        for sent in self.sent:
            if sent.file_digest in answers:
                answers.remove(sent.file_digest)
            else:
                waiting.append(sent)
        return tuple(waiting)

    def best(self, task: str) -> float:
        """The best score that came back for `task`; 0 when none did."""
        files = {s.file_digest for s in self.sent if s.task == task}
        scores = [r.score for r in self.results if r.file_digest in files and r.score is not None]
        return max(scores, default=0.0)

    def waiting_for(self, file_digest: str = "", portal_id: str = "", task: str = "") -> tuple[Sent, ...]:
        """What is in flight under this digest, else this number of the portal's, else this task, newest last."""
        waiting = self.in_flight
        if file_digest:
            return tuple(s for s in waiting if s.file_digest == file_digest)
        if portal_id and any(s.portal_id == portal_id for s in self.sent):
            return tuple(s for s in waiting if s.portal_id == portal_id)
        last = task.rsplit("/", 1)[-1]
        return tuple(s for s in waiting if task and last == s.task.rsplit("/", 1)[-1])

    def used_on(self, day: datetime) -> int:
        """Results of the UTC day of `day`, with those that are still to come."""
        wanted = day.astimezone(UTC).date()
        answered = (datetime.fromisoformat(r.at).astimezone(UTC).date() for r in self.results)
        return sum(date == wanted for date in answered) + len(self.in_flight)


def own_scores(ledger: Ledger) -> dict[str, float]:
    """The best score that came back for each task, by its name and by the last part of it."""
    best = {sent.task: ledger.best(sent.task) for sent in ledger.sent}
    return {name: score for task, score in best.items() for name in (task, task.rsplit("/", 1)[-1])}


def read_ledger(path: Path) -> Ledger:
    """What is written so far; a last line that was cut short is left out, any other fault is a `TaskError`."""
    if not path.exists():
        return Ledger(())
    *lines, rest = read_text(path).split("\n")
    del rest  # no newline after it: it was never finished
    entries = []
    for number, line in enumerate(lines, start=1):
        try:
            entries.append(_ENTRY.validate_json(line))
        except ValidationError as error:
            raise TaskError(
                f"line {number} is no entry: {error.errors()[0]['msg']}",
                file=path,
                mend="restore the line; the ledger is only ever added to",
            ) from error
    return Ledger(tuple(entries))


def add_entry(path: Path, entry: Sent | Result) -> None:
    """Write one more line, whole, after cutting off one that was never finished.

    `TaskError` for a result of a file that was not sent, or was answered as often as it was sent.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        waiting = {s.file_digest for s in read_ledger(path).in_flight}
        if isinstance(entry, Result) and entry.file_digest not in waiting:
            problem = f"file {entry.file_digest[:12]} is not waiting for a result"
            raise TaskError(problem, file=path, mend="note it as sent first")
        whole = _whole_lines(path)
        os.ftruncate(descriptor, whole)
        os.lseek(descriptor, whole, os.SEEK_SET)
        os.write(descriptor, f"{canonical_json(entry.model_dump(mode='json'))}\n".encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _whole_lines(path: Path) -> int:
    return path.read_bytes().rfind(b"\n") + 1


def lines(ledger: Ledger) -> Sequence[tuple[str, ...]]:
    """The ledger as a table, newest last."""
    names = {s.file_digest: s.task for s in ledger.sent}
    rows = [("when", "what", "task", "file", "result")]
    for entry in ledger.entries:
        if isinstance(entry, Sent):
            rows.append((entry.at, "sent", entry.task, entry.file_digest[:12], entry.mode))
        else:
            figures = [f"score {entry.score:g}"] if entry.score is not None else []
            figures += [f"{entry.latency_ms:g} ms"] if entry.latency_ms is not None else []
            said = ", ".join([entry.status, *figures])
            rows.append((entry.at, "result", names[entry.file_digest], entry.file_digest[:12], said))
    return rows
