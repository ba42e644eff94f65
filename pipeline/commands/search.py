"""`kernelarc search` and `kernelarc resume`."""

from contextlib import AbstractContextManager, nullcontext
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
    table,
    target_option,
    task_argument,
    warm_option,
    workers_option,
)  # fmt: skip

if TYPE_CHECKING:
    from pipeline.progress import Bar, Lines
    from pipeline.run_folder import Outcome, Run


def shown_progress() -> "AbstractContextManager[Lines | Bar]":
    """A bar on a terminal, plain lines elsewhere."""
    from pipeline.progress import Bar, progress

    shown = progress()
    return shown if isinstance(shown, Bar) else nullcontext(shown)


@click.command()
@task_argument
@options(
    budget_option, agents_option, seed_option, memory_option, workers_option, policy_option, patience_option,
    *limits_options, *model_options, data_option, device_option, precision_option, inputs_option, target_option,
    cluster_option, warm_option, runs_option,
)  # fmt: skip
def search(task: str, as_json: bool, **given: Any) -> int:
    """Let the agents propose solutions of TASK, and judge them until the budget is spent.

    Every step is in a journal under runs/: a search that was stopped or killed goes on with `resume`.

    \b
    Examples:
      kernelarc search l1_rmsnorm --budget 24
      kernelarc search l2_decoder --agents library,template --seed 1 --json
      kernelarc search l1_rmsnorm --workers 4 --policy controller --memory top:8 --patience 12
      kernelarc search l1_swiglu --model my-model --base-url http://localhost:8000/v1
    """
    from pipeline.runs import begin
    from pipeline.submit import search as look

    with (
        shown_progress() as progress,
        begin("search", settings_from(given), task, progress) as (run, judging),
    ):
        found = look(run, judging, progress)
    return say_found(run, found, as_json)


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@options(click.option("--out", metavar="DIR", help="Where the submission goes. [default: as begun]"))
def resume(run: Path, as_json: bool, out: str | None) -> int:
    """Go on with the search or submission in the folder RUN, where it was left.

    The agents are played again over the recorded verdicts, so nothing is judged twice.

    \b
    Examples:
      kernelarc resume runs/l2_decoder-20261130-203100
    """
    from pipeline.commands.submit import say_submitted
    from pipeline.runs import go_on
    from pipeline.submit import search as look
    from pipeline.submit import submit

    with shown_progress() as progress, go_on(run, progress) as (opened, judging):
        if opened.header.command == "submit":
            submitted = submit(opened, judging, progress, settings_from({"out": out}).out if out else None)
            return say_submitted(opened, submitted, as_json)
        found = look(opened, judging, progress)
    return say_found(opened, found, as_json)


def say_found(run: "Run", found: "list[Outcome]", as_json: bool) -> int:
    """What a search found, best first; 1 when nothing was accepted."""
    from pipeline.progress import figure
    from pipeline.ranking import latency_ms

    content = {
        "task": run.header.task,
        "run": str(run.folder),
        "accepted": [
            {
                "candidate": outcome.candidate.digest,
                "agent": outcome.candidate.agent,
                "strategy": outcome.candidate.strategy,
                "latency_ms": latency_ms(outcome.verdict),
                "predicted_ms": outcome.predicted_ms,
            }
            for outcome in found
        ],
    }
    rows = [
        (o.candidate.digest[:12], o.candidate.agent, o.candidate.strategy, figure(o).lstrip(", "))
        for o in found
    ]
    emit(as_json, content, table(rows) if rows else "no candidate was accepted")
    return 0 if found else 1
