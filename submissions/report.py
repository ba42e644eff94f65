"""REPORT.md: the evidence for people, rendered from the submission alone."""

import shlex
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from guard.verdict import FLAGS, WorkloadVerdict, latency_of
from submissions.submission import Submission
from submissions.upload import PRECISION

DIFFERENCES = (
    "Every measured call gets fresh values, and its outputs are checked; the official loop checks ten rounds "
    "before it times. Acceptance here rests on the measured calls.",
    "Outputs are poisoned before a call, so that an element that was never written shows; the official "
    "evaluator hands over zeros.",
    "Inputs must be unchanged after a call; the official evaluator does not look.",
    "Values differ from call to call, those of weights included; officially they differ between the ten "
    "rounds alone, and every timed call sees one set.",
    "The precision policy above is enforced, where the guard can see it, beside the official tolerance.",
    "Every activity inside a timed call counts; evaluator v1.1 drops kernels whose names its discovery call "
    "did not show.",
)


class Row(NamedTuple):
    """A workload's line in the table, every figure already text."""

    uuid: str
    axes: str
    status: str
    absolute: str
    relative: str
    matched: str
    latency: str
    timer: str
    speedup: str
    note: str


def report(submission: Submission) -> str:
    """The same text for the same submission: no clock, no locale, floats with six significant digits."""
    evidence = submission.evidence
    return _renderer()(
        evidence=evidence,
        policy=PRECISION[evidence.verdict.precision],
        rows=_rows(submission),
        commands=_commands(submission),
        differences=DIFFERENCES,
        samples=sum(len(m.times_ms) for m in submission.measurements),
    )


def _rows(submission: Submission) -> list[Row]:
    rows = []
    for workload, trace, judged in zip(
        submission.workloads, submission.traces, submission.evidence.verdict.workloads, strict=True
    ):
        original = submission.evidence.task.originals.get(workload.uuid)
        reference_ms = latency_of(submission.reference, workload.uuid)
        speedup = (
            trace.evaluation.performance.speedup_factor
            if reference_ms and trace.evaluation and trace.evaluation.performance
            else None
        )
        rows.append(
            Row(
                uuid=workload.uuid,
                axes=", ".join(f"{name} {size}" for name, size in workload.axes.items()),
                status=f"{judged.status}{'' if judged.accepted else ', not accepted'}",
                absolute=_figure(judged.max_absolute_error),
                relative=_figure(judged.max_relative_error),
                matched=_figure(judged.matched_ratio),
                latency=_latency(judged),
                timer=judged.timer or "-",
                speedup=_figure(speedup),
                note="; ".join(
                    part
                    for part in (original and f"shrunk from {original}", *judged.flags, judged.note)
                    if part
                ),
            )
        )
    return rows


def _commands(submission: Submission) -> list[str]:
    """Exact commands, to be run in the submission's folder; what they write goes elsewhere: it would not belong."""
    evidence = submission.evidence
    again = f"/tmp/again-{evidence.digest[:12]}"
    task = shlex.quote(evidence.task.name)
    judge = (
        f"kernelarc evaluate {task} --solution solution.json --device {evidence.verdict.environment.kind} "
        f"--protocol {evidence.protocol.name} --precision {evidence.verdict.precision} --traces {again}.jsonl"
    )
    return [
        "sha256sum -c SHA256SUMS",
        "kernelarc verify .",
        judge,
        *([f"mkdir -p {again} && cd {again} && {evidence.command}"] if evidence.command else []),
    ]


def _latency(judged: WorkloadVerdict) -> str:
    """The official time, and how long the device worked in it where that is known."""
    if judged.busy_ms is None:
        return _figure(judged.latency_ms)
    return f"{_figure(judged.latency_ms)}, device busy {_figure(judged.busy_ms)}"


def _figure(number: float | None) -> str:
    return "-" if number is None else f"{number:.6g}"


def _cell(text: object) -> str:
    """Text that can break neither a table nor a line."""
    return " ".join(str(text).replace("\\", "\\\\").replace("|", "\\|").split())


@cache
def _renderer() -> Callable[..., str]:
    # imported here: the command line must start without it
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["cell"] = _cell
    environment.globals["meaning_of"] = lambda flag: FLAGS.get(flag, "")
    text = Path(__file__).with_name("report.md.j2").read_text(encoding="utf-8")
    return environment.from_string(text).render
