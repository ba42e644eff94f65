"""Reading a submission's folder back, piece by piece: what can be read is, what cannot is named."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeVar

from submissions.discrepancy import Discrepancy, unreadable
from submissions.evidence import Evidence
from submissions.files import EVIDENCE, NAMES, SAMPLES, TRACES, evidence_bytes
from submissions.formats import FORMATS
from submissions.samples import Samples, unpack
from submissions.submission import Submission
from tasks.document import LARGEST_FILE, parse_json
from tasks.errors import TaskError
from tasks.solution import Solution
from tasks.solution_file import SOLUTION
from tasks.trace import Trace
from tasks.trace_file import write_traces
from tasks.validation import validated

Piece = TypeVar("Piece")


class Pieces(NamedTuple):
    """None stands for what is missing or cannot be read; `discrepancies` says why."""

    content: dict[str, bytes]
    evidence: Evidence | None
    solution: Solution | None
    traces: tuple[Trace, ...] | None
    samples: Samples | None
    discrepancies: tuple[Discrepancy, ...]

    @property
    def submission(self) -> Submission | None:
        """The whole, when every piece could be read."""
        if self.evidence is None or self.solution is None or self.traces is None or self.samples is None:
            return None
        return Submission(
            evidence=self.evidence,
            solution=self.solution,
            workloads=tuple(trace.workload for trace in self.traces),
            measurements=self.samples.candidate,
            reference=self.samples.reference,
        )


def read(folder: Path) -> Submission:
    """The submission in `folder`; `TaskError` names what cannot be read. Whether it holds, `verify` says."""
    pieces = read_pieces(folder)
    if pieces.submission is None:
        first = pieces.discrepancies[0]
        raise TaskError(first.problem, file=folder / first.file, field=first.field, mend="make it again")
    return pieces.submission


def read_pieces(folder: Path) -> Pieces:
    """`TaskError` when `folder` is no folder; everything else is a discrepancy."""
    found: list[Discrepancy] = []
    content = _contents(folder, found)

    def piece(name: str, parse: Callable[[bytes], Piece]) -> Piece | None:
        if name not in content:
            return None
        try:
            return parse(content[name])
        except (TaskError, ValueError) as error:
            found.append(unreadable(name, error))
            return None

    return Pieces(
        content=content,
        evidence=piece(EVIDENCE, parse_evidence),
        solution=piece(SOLUTION, FORMATS["solution-json"].read),
        traces=piece(TRACES, parse_traces),
        samples=piece(SAMPLES, unpack),
        discrepancies=tuple(found),
    )


def _contents(folder: Path, found: list[Discrepancy]) -> dict[str, bytes]:
    if not folder.is_dir():
        raise TaskError("is not a submission's folder", file=folder, mend="name a folder that submit made")
    if not any((folder / name).exists() or (folder / name).is_symlink() for name in NAMES):
        raise TaskError(
            f"holds nothing of a submission (no {EVIDENCE} and none of its other files)",
            file=folder,
            mend="name a folder that submit made",
        )
    content = {}
    for path in sorted(folder.iterdir()):
        if path.name not in NAMES:
            found.append(Discrepancy(file=path.name, field="name", problem="it does not belong here"))
        elif path.is_symlink() or not path.is_file():
            found.append(Discrepancy(file=path.name, field="kind", problem="it is not a plain file"))
        elif path.stat().st_size > LARGEST_FILE:
            found.append(Discrepancy(file=path.name, field="size", problem="it is far larger than it may be"))
        else:
            content[path.name] = path.read_bytes()
    missing = [name for name in NAMES if not (folder / name).exists()]
    found.extend(Discrepancy(file=name, field="name", problem="it is missing") for name in missing)
    return content


def parse_evidence(content: bytes) -> Evidence:
    evidence = Evidence.model_validate(parse_json(content.decode(), EVIDENCE).content)
    _must_be_the_same(evidence_bytes(evidence), content)
    return evidence


def parse_traces(content: bytes) -> tuple[Trace, ...]:
    lines = content.decode().split("\n")[:-1]
    documents = (parse_json(line, TRACES, f"line {number}") for number, line in enumerate(lines, start=1))
    parsed = tuple(validated(Trace, document) for document in documents)
    _must_be_the_same(write_traces(parsed).encode(), content)
    return parsed


def _must_be_the_same(again: bytes, content: bytes) -> None:
    """Also finds doubled and unknown keys, and every other spelling of the same content."""
    if again == content:
        return
    pairs = zip(again.splitlines(), content.splitlines(), strict=False)
    line = next((n for n, (a, b) in enumerate(pairs, start=1) if a != b), None)
    raise ValueError(f"line {line or 'count'} is not written as it would be written again")
