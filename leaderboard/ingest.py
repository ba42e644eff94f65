"""From files to rows of the store: journals' verdicts, submissions, official traces and snapshots."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from guard.verdict import Verdict, deciding
from leaderboard.snapshot import Snapshot
from leaderboard.snapshot_file import read_snapshot
from submissions.files import EVIDENCE
from submissions.read import read
from tasks.errors import TaskError
from tasks.trace import Trace
from tasks.trace_file import read_traces
from tasks.value import digest_of

Row = dict[str, Any]


class Gathered(NamedTuple):
    rows: dict[str, list[Row]]
    """By the name of a table."""
    skipped: tuple[str, ...]
    """Files that hold nothing for the store, or could not be read, each with the cause."""


def gather(paths: Iterable[Path]) -> Gathered:
    """Everything below `paths` that the store has a table for; `TaskError` when a path does not exist."""
    rows: dict[str, list[Row]] = {"verdicts": [], "times": [], "traces": [], "snapshots": []}
    skipped = []
    for path in _files(paths):
        try:
            for table, row in _rows_of(path):
                rows[table].append(row)
        except (TaskError, ValidationError, ValueError, OSError) as error:
            skipped.append(f"{path}: {str(error).splitlines()[0]}")
    return Gathered(rows, tuple(skipped))


def _files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            raise TaskError("does not exist", file=path, mend="name runs, submissions or snapshots")
        if not path.is_dir() and not (path.is_file() and path.suffix in (".json", ".jsonl")):
            mend = "name runs, submissions, snapshots or traces"
            raise TaskError("is neither a folder nor a .json or .jsonl file", file=path, mend=mend)
        found = sorted(path.rglob("*.json*")) if path.is_dir() else [path]
        # a hidden file is one that someone is still writing
        yield from (file for file in found if file.is_file() and not file.name.startswith("."))


def _rows_of(path: Path) -> Iterator[tuple[str, Row]]:
    source = str(path)
    if path.name == EVIDENCE:
        yield from _verdict(read(path.parent).verdict, source)
    elif path.suffix == ".jsonl" and path.name != "journal.jsonl":
        yield from (("traces", _trace(trace, source)) for trace in read_traces(path))
    elif path.suffix == ".json":
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            return
        if content.get("format") == Snapshot.model_fields["format"].default:
            yield "snapshots", _snapshot(read_snapshot(path), source)
        elif "verdict" in content:
            yield from _verdict(Verdict.model_validate(content["verdict"]), source)


def _verdict(verdict: Verdict, source: str) -> Iterator[tuple[str, Row]]:
    digest, where = verdict.digest, verdict.environment
    yield (
        "verdicts",
        {
            "digest": digest,
            "task": verdict.task,
            "task_digest": verdict.task_digest,
            "candidate": verdict.candidate_digest,
            "status": verdict.status,
            "reason": verdict.reason and str(verdict.reason.code),
            "protocol": verdict.protocol,
            "device": where.device,
            "card": where.uuid,
            "driver": where.driver,
            "source": source,
        },
    )
    for workload in verdict.workloads:
        processes = {m.process for m in deciding(verdict.measurements, workload.uuid)}
        yield (
            "times",
            {
                "verdict": digest,
                "workload": workload.uuid,
                "status": str(workload.status),
                "timer": workload.timer,
                "latency_ms": workload.latency_ms,
                "processes": len(processes),
            },
        )


def _trace(trace: Trace, source: str) -> Row:
    said = trace.evaluation
    performance = said.performance if said else None
    return {
        "digest": digest_of(trace.model_dump(mode="json")),
        "definition": trace.definition,
        "workload": trace.workload.uuid,
        "solution": trace.solution,
        "status": said and str(said.status),
        "hardware": said and said.environment.hardware,
        "latency_ms": performance and performance.latency_ms,
        "reference_latency_ms": performance and performance.reference_latency_ms,
        "judged_at": said and said.timestamp,
        "source": source,
    }


def _snapshot(snapshot: Snapshot, source: str) -> Row:
    return {
        "digest": snapshot.digest,
        "task": snapshot.task.name,
        "candidate": snapshot.candidate.digest,
        "taken_on": snapshot.taken_on.isoformat(),
        "device": snapshot.environment.device,
        "driver": snapshot.environment.driver,
        "score": None if snapshot.score is None else snapshot.score.score,
        "source": source,
    }
