"""Ready for the board, or a draft: decided from the evidence alone, so that it can be decided again."""

import re
from collections.abc import Iterator
from typing import Literal

from guard.protocol import FINAL
from guard.sandbox.seal import DEFAULT_LEVELS
from guard.verdict import Environment, Verdict, WorkloadVerdict
from submissions.facts import Facts, Target
from tasks.trace import Status

Readiness = Literal["ready", "draft"]

NOT_MEASURED = "performance: not measured on the target"


def is_measured_on(target: Target, verdict: Verdict) -> bool:
    """Every workload was timed, on the GPU that `target` means (`LOCAL`: whichever GPU this is)."""
    return is_judged_on(target, verdict.environment) and all(
        w.latency_ms is not None for w in verdict.workloads
    )


def is_judged_on(target: Target, device: Environment) -> bool:
    """`LOCAL` is whichever GPU this is."""
    return device.kind == "cuda" and (target == "LOCAL" or bool(re.search(r"\bB200\b", device.device)))


def performance_line(target: Target, verdict: Verdict) -> str:
    if not is_measured_on(target, verdict):
        return NOT_MEASURED
    return f"performance: measured on {verdict.environment.device}"


def reasons_for_draft(facts: Facts) -> tuple[str, ...]:
    """Why these facts make a draft, one sentence each, in a fixed order; empty when they are ready."""
    return (
        *_marks(facts),
        *_device(facts),
        *_protocol(facts),
        *_workloads(facts),
        *_lint(facts),
    )


def _marks(facts: Facts) -> Iterator[str]:
    for mark in sorted({*facts.task.marks, *facts.verdict.marks}):
        yield f"the task is marked {mark}: this is no result on the official problem"
    if facts.task.originals and "shrunk" not in {*facts.task.marks, *facts.verdict.marks}:
        yield "workloads were shrunk: this is no result on the official problem"


def _device(facts: Facts) -> Iterator[str]:
    device = facts.verdict.environment
    if not is_measured_on(facts.target, facts.verdict):
        yield f"{NOT_MEASURED}: judged on {device.device} ({device.kind}), target {facts.target}"
    missing = _missing_isolation(device)
    if missing:
        yield f"isolation {device.isolation} is below the default: {', '.join(missing)} missing"
    if device.other_processes:
        yield f"{device.other_processes} other compute processes shared the GPU"


def _missing_isolation(device: Environment) -> list[str]:
    """Of the default level's parts; less than the default is never leaderboard-ready."""
    return sorted({*DEFAULT_LEVELS[device.kind].split("+")} - {*device.isolation.split("+")})


def _protocol(facts: Facts) -> Iterator[str]:
    found = facts.protocol
    if found.name != FINAL.name:
        yield f"judged under the protocol {found.name}, not {FINAL.name}"
    for field in ("official_rounds", "official_seed", "warmup_calls", "timed_calls"):
        if getattr(found, field) != getattr(FINAL, field):
            yield f"{field} is {getattr(found, field)}; the official evaluator has {getattr(FINAL, field)}"
    if found.processes < FINAL.processes:
        yield f"judged in {found.processes} processes; {FINAL.processes} are asked for"


def _workloads(facts: Facts) -> Iterator[str]:
    """What is wrong with several workloads is said once."""
    uuids: dict[str, list[str]] = {}
    for workload in facts.verdict.workloads:
        for reason in _workload(workload):
            uuids.setdefault(reason, []).append(workload.uuid)
    for reason, affected in uuids.items():
        is_every = len(affected) == len(facts.verdict.workloads)
        yield f"{'every workload' if is_every else 'workload ' + ', '.join(affected)}: {reason}"


def _workload(workload: WorkloadVerdict) -> Iterator[str]:
    if workload.status is not Status.PASSED:
        yield f"the official rounds say {workload.status}"
    if not workload.accepted:
        yield "the guard did not accept it"
    if workload.synthetic:
        yield "its recorded inputs were synthesised"
    if workload.latency_ms is None:
        yield "it was not timed"
    elif workload.timer != "cupti":
        yield f"timed by {workload.timer}; the board times by CUPTI"


def _lint(facts: Facts) -> Iterator[str]:
    # findings on the task are errata of the official problem: reported, and nobody's submission's fault
    for finding in facts.lint:
        if finding.level == "error":
            yield f"lint: {finding.file} `{finding.field}`: {finding.problem}"
