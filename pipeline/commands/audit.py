"""`kernelarc audit`."""

from typing import TYPE_CHECKING, Any

import click

from pipeline.commands.options import (
    data_option,
    device_option,
    emit,
    inputs_option,
    options,
    settings_from,
    table,
    task_argument,
)

if TYPE_CHECKING:
    from guard.audit.admission import Audit, Finding


@click.command()
@task_argument
@options(
    click.option(
        "--draws", type=click.IntRange(1, 64), default=2, show_default=True, help="Sets of values a workload."
    ),
    data_option,
    device_option,
    inputs_option,
)
def audit(task: str, draws: int, as_json: bool, **given: Any) -> int:
    """Say what TASK's tolerance lets through: zeros, an input handed back, coarse arithmetic and the like.

    Exits with 1 when an answer for which nothing was computed passes a workload.

    \b
    Examples:
      kernelarc audit l2_decoder --device cpu
      kernelarc audit L2/059_gqa --json
    """
    from guard.audit.admission import audit as admit
    from guard.session import Session
    from pipeline.device import choose_device
    from pipeline.prepare import prepare
    from pipeline.progress import Lines

    settings = settings_from(given)
    device = choose_device(settings.device)
    lines = Lines()
    prepared = prepare(settings, task, device, lines)
    with Session(device, inputs=settings.inputs) as session:
        found = admit(prepared.judged, session, draws, lines.note)
    emit(as_json, {**found.model_dump(mode="json"), "let_through": list(found.let_through)}, _text(found))
    return 1 if any(not name.endswith("-inputs") for name in found.let_through) else 0


def _text(found: "Audit") -> str:
    rows: list[tuple[str, ...]] = [("workload", "alternative", "matched", "required", "max abs", "")]
    rows += [_row(f) for f in found.findings]
    through = ", ".join(found.let_through) or "none of these"
    return "\n".join([table(rows), f"the tolerance of {found.task} lets through: {through}"])


def _row(finding: "Finding") -> tuple[str, ...]:
    if not finding.applies:
        said = finding.remark or "there is no such alternative"
        return finding.workload[:12], finding.alternative, "-", "-", "-", said
    ratio = "-" if finding.matched_ratio is None else f"{finding.matched_ratio:.4f}"
    word = "PASSES" if finding.passes else "fails"
    return (
        finding.workload[:12], finding.alternative, ratio, f"{finding.required:.4f}", f"{finding.max_absolute_error:.4g}",
        word,
    )  # fmt: skip
