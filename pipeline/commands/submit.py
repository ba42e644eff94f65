"""`kernelarc submit` and `kernelarc verify`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.commands.options import (
    agents_option,
    budget_option,
    cluster_option,
    data_option,
    device_option,
    emit,
    inputs_option,
    kernelarc,
    limits_options,
    memory_option,
    model_options,
    options,
    patience_option,
    policy_option,
    precision_option,
    runs_option,
    seed_option,
    settings_from,
    target_option,
    task_argument,
    warm_option,
    workers_option,
)  # fmt: skip
from pipeline.commands.search import shown_progress

if TYPE_CHECKING:
    from pipeline.run_folder import Run
    from pipeline.submit import Submitted


@click.command()
@task_argument
@options(
    budget_option, agents_option, seed_option, target_option,
    click.option("--out", metavar="DIR", help="Where submissions are kept. [default: submissions]"),
    memory_option, workers_option, policy_option, patience_option, *limits_options, *model_options,
    data_option, device_option, precision_option, inputs_option, cluster_option, warm_option, runs_option,
)  # fmt: skip
def submit(task: str, as_json: bool, **given: Any) -> int:
    """Search, judge the champion again in fresh processes, and write a verified submission of TASK.

    It lands in submissions/ready/, or in submissions/draft/ when anything in it was shrunk, made up, or not
    measured on the target; its REPORT.md says which.

    \b
    Examples:
      kernelarc submit l2_decoder
      kernelarc submit l1_rmsnorm --budget 40 --target LOCAL --out ~/submissions --json
    """
    from pipeline.runs import begin
    from pipeline.submit import submit as make

    with (
        shown_progress() as progress,
        begin("submit", settings_from(given), task, progress) as (run, judging),
    ):
        submitted = make(run, judging, progress)
    return say_submitted(run, submitted, as_json)


def say_submitted(run: "Run", submitted: "Submitted | None", as_json: bool) -> int:
    """Where the submission is and what it amounts to; 1 when there is none."""
    from pipeline.submit import summary

    if submitted is None:
        content = {"folder": None, "digest": None, "task": run.header.task, "run": str(run.folder)}
        emit(
            as_json,
            content,
            "no candidate was accepted that may ship for the target: there is nothing to submit",
        )
        return 1
    lines = [
        f"{submitted.readiness}: {submitted.agent}: {submitted.strategy}",
        submitted.performance,
        f"submission: {submitted.folder}",
        f"check it:   {kernelarc()} verify {submitted.folder}",
    ]
    emit(as_json, summary(submitted, run), "\n".join(lines))
    return 0


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@options()
def verify(folder: Path, as_json: bool) -> int:
    """Compute everything in a submission's FOLDER again from its bytes, and name what does not hold.

    \b
    Examples:
      kernelarc verify submissions/draft/L2/l2_decoder/0123456789ab
    """
    from submissions.verify import verify as discrepancies_in

    found = discrepancies_in(folder)
    content = {"folder": str(folder), "holds": not found, "discrepancies": [f.model_dump() for f in found]}
    emit(as_json, content, "\n".join(map(str, found)) if found else f"{folder} holds")
    return 1 if found else 0
