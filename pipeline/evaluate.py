"""One solution, one task, one verdict."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from guard.protocol import Protocol
from guard.verdict import Verdict
from pipeline.device import choose_device
from pipeline.heartbeat import Heartbeat
from pipeline.prepare import Prepared, load, prepare_task
from pipeline.progress import Progress
from pipeline.protocols import protocol_for
from pipeline.settings import Settings
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.task import Task
from tasks.value import Value
from tasks.whole_file import write_whole


class Evaluation(Value):
    """What `kernelarc evaluate` found."""

    prepared: Prepared
    candidate: Candidate
    protocol: Protocol
    verdict: Verdict

    @property
    def summary(self) -> dict[str, Any]:
        """The shape that `evaluate --json` prints."""
        verdict = self.verdict
        fields = {
            "uuid", "axes", "status", "max_absolute_error", "max_relative_error", "latency_ms", "timer"
        }  # fmt: skip
        return {
            "status": verdict.status,
            "reason": verdict.reason and verdict.reason.model_dump(mode="json"),
            "task": verdict.task,
            "solution_digest": verdict.candidate_digest,
            "workloads": [
                # what a stored verdict leaves out where nothing is known is said here
                {**w.model_dump(mode="json", include=fields), "busy_ms": w.busy_ms, "flags": list(w.flags)}
                for w in verdict.workloads
            ],
            "environment": verdict.environment.model_dump(mode="json"),
            "protocol": verdict.protocol,
            "precision": verdict.precision,
            "marks": list(verdict.marks),
            "flags": list(verdict.flags),
        }


def evaluate(settings: Settings, name: str, solution: Path | None, progress: Progress) -> Evaluation:
    """The verdict on the solution file, or, without one, on the definition's own reference."""
    from guard.judge import judge
    from guard.session import Session

    device = choose_device(settings.device)
    task = load(settings, name)
    candidate = reference_of(task) if solution is None else read_candidate(solution, task, progress)
    prepared = prepare_task(settings, task, device, progress)
    protocol = protocol_for(settings.protocol, device, settings, prepared.judged)

    def said(step: str) -> None:
        progress.note(step)
        alive.note(step)

    # nothing is examined beside it, and the worker and the reference work in turn: each may have every core
    threads = len(os.sched_getaffinity(0)) if device == "cpu" else None
    with (
        Session(device, inputs=settings.inputs, threads=threads) as session,
        Heartbeat(progress.note, "judging") as alive,
    ):
        verdict = judge(prepared.judged, candidate, protocol, session, said)
    return Evaluation(prepared=prepared, candidate=candidate, protocol=protocol, verdict=verdict)


def write_traces(evaluation: Evaluation, file: Path) -> None:
    """The official traces of an evaluation, one line a workload; the whole file or nothing."""
    from submissions.samples import Samples
    from submissions.traces import traces
    from tasks.trace_file import write_traces as as_text

    task = evaluation.prepared.judged
    made = traces(
        definition=task.definition.name,
        solution=evaluation.candidate.solution.name,
        workloads=task.workloads,
        verdict=evaluation.verdict,
        samples=Samples(evaluation.verdict.measurements, ()),
        judged_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    write_whole(file, as_text(made).encode())


def read_candidate(file: Path, task: Task, progress: Progress) -> Candidate:
    """The solution file as a candidate for `task`; `TaskError` also when it solves another problem.

    What the official reader would silently swallow in it is said, before time is spent on it.
    """
    from tasks.lint import solution_findings
    from tasks.solution_file import load_solution, read_solution

    solution = load_solution(file, task.definition)
    document, findings = read_solution(file)
    for finding in (*findings, *solution_findings(solution, document, task.definition)):
        progress.note(str(finding))
    return Candidate(solution=solution, definition_digest=task.definition.digest)


def reference_of(task: Task) -> Candidate:
    """The definition's own code as a candidate."""
    import agents

    candidate = agents.create("reference", task, 0).ask()
    if candidate is None:
        raise TaskError("has no reference to judge", file=task.name, mend="give --solution FILE")
    return candidate
