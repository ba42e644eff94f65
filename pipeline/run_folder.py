"""The folder of one run: its journal, its candidates and what was said of each, all named by digest."""

import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from pydantic import ValidationError

from guard.protocol import Protocol
from guard.verdict import Verdict
from pipeline.journal import Event, Journal
from pipeline.ledger.amounts import NOTHING, Amounts
from pipeline.settings import Settings
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.value import Value
from tasks.whole_file import write_whole

JOURNAL = "journal.jsonl"
T = TypeVar("T", bound=Value)


class Header(Value):
    """What a run must find again to go on: the same task, agents, seed, device and settings."""

    version: Literal[1] = 1
    command: Literal["search", "submit"]
    task: str
    task_digest: str
    """Of the task as it was judged: shrunk, where it had to be."""
    device: Literal["cpu", "cuda"]
    agents: tuple[str, ...]
    budget: int
    settings: Settings
    starts: dict[str, tuple[dict[str, bool | int | str], ...]] = {}
    """Settings that were predicted for the task's families when the run was begun, the most promising first."""


class Outcome(Value):
    """What is known of one judged candidate."""

    candidate: Candidate
    verdict: Verdict
    predicted_ms: float | None = None
    """Geometric mean over the full-size workloads, predicted for the target."""
    launches: int | None = None
    """Kernels launched a call, where it could be counted."""
    builds_for_target: bool | None = None
    cost: Amounts = NOTHING
    """What judging it took, measured once: a replay counts the same again."""


class Final(Value):
    """A champion judged again in fresh processes, and when."""

    verdict: Verdict
    protocol: Protocol
    judged_at: str
    """ISO 8601 with its offset; kept, so that packing the same verdict again gives the same bytes."""


class Run:
    """One run folder, open for writing. Everything in it is written atomically and never changed."""

    def __init__(self, folder: Path, header: Header, journal: Journal) -> None:
        self.folder, self.header, self.journal = folder, header, journal

    @classmethod
    def create(cls, parent: Path, header: Header) -> Self:
        """A new folder `<task>-<time>` under `parent`."""
        folder = _new_folder(parent, header.task)
        return cls(folder, header, Journal.create(folder / JOURNAL, header.model_dump(mode="json")))

    @classmethod
    def open(cls, folder: Path) -> Self:
        """An old run, to go on with. Raises `TaskError`."""
        journal = Journal.open(folder / JOURNAL)
        try:
            header = header_in(folder, journal.header)
        except TaskError:
            journal.close()
            raise
        journal.append(Event(event="note", text="resumed"))
        return cls(folder, header, journal)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.journal.close()

    def outcome(self, candidate: Candidate) -> Outcome | None:
        file = self.folder / "verdicts" / f"{candidate.digest}.json"
        kept = _read(file, Outcome)
        said = (kept.candidate.digest, kept.verdict.candidate_digest) if kept else ()
        return _about(candidate, file, kept, *said)

    def outcomes(self) -> list[Outcome]:
        """Every outcome on disk, by digest; a run that took another turn keeps what it had paid for."""
        return [outcome for file in _kept(self.folder / "verdicts") if (outcome := _read(file, Outcome))]

    def keep_outcome(self, outcome: Outcome) -> None:
        _write(self.folder / "verdicts" / f"{outcome.candidate.digest}.json", outcome)

    def final(self, candidate: Candidate, protocol: Protocol) -> Final | None:
        file = self._final_file(candidate.digest, protocol)
        kept = _read(file, Final)
        return _about(candidate, file, kept, *((kept.verdict.candidate_digest,) if kept else ()))

    def keep_final(self, final: Final) -> None:
        _write(self._final_file(final.verdict.candidate_digest, final.protocol), final)

    def _final_file(self, candidate: str, protocol: Protocol) -> Path:
        return self.folder / "finals" / f"{candidate}-{protocol.digest[:12]}.json"


def header_in(folder: Path, content: Any) -> Header:
    """What the first line of a run's journal says it was begun with. Raises `TaskError`."""
    try:
        return Header.model_validate(content)
    except ValidationError as error:
        field = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise TaskError(
            "is no header that this version writes",
            file=folder / JOURNAL,
            field=f"line 1: {field}" if field else "line 1",
            mend="name another run, or begin a new one",
        ) from None


def recorded_verdicts(folder: Path) -> list[Verdict]:
    """Every verdict that a run kept, of its search and of its finals, without opening it for writing."""
    found = [outcome.verdict for file in _kept(folder / "verdicts") if (outcome := _read(file, Outcome))]
    return found + [final.verdict for file in _kept(folder / "finals") if (final := _read(file, Final))]


def remembered(kept: T | None, make: Callable[[], T], keep: Callable[[T], None]) -> T:
    """What was kept, or what is made now and kept."""
    if kept is not None:
        return kept
    made = make()
    keep(made)
    return made


def _new_folder(parent: Path, task: str) -> Path:
    """Times of runs started in the same second are told apart by a number."""
    name = f"{task.replace('/', '__')}-{time.strftime('%Y%m%d-%H%M%S')}"
    for number in range(1, 1000):
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        return folder
    raise FileExistsError(17, "a thousand runs in one second", str(parent / name))


def _kept(folder: Path) -> list[Path]:
    """Whole files only: one that is being written has a name with a dot before it."""
    return sorted(file for file in folder.glob("*.json") if not file.name.startswith("."))


def _read(file: Path, kind: type[T]) -> T | None:
    if file.exists() and not file.is_file():
        raise TaskError("is no file", file=file, mend="delete it and resume")
    try:
        return kind.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError:
        raise TaskError("was changed since it was written", file=file, mend="delete it and resume") from None


def _about(candidate: Candidate, file: Path, kept: T | None, *said: str) -> T | None:
    """What was kept, if all that it says of whom it is about is true."""
    if kept is not None and set(said) != {candidate.digest}:
        raise TaskError("is about another candidate", file=file, mend="delete it and resume")
    return kept


def _write(file: Path, value: Value) -> None:
    file.parent.mkdir(exist_ok=True)
    write_whole(file, value.model_dump_json(indent=1).encode())
