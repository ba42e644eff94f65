"""`kernelarc ablate`."""

from pathlib import Path

import click

from pipeline.commands.options import emit, options


@click.command()
@click.argument("plan", type=click.Path(path_type=Path))
@options(
    click.option("--seeds", type=click.IntRange(min=2), metavar="N", help="In place of the plan's."),
    click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes."),
    click.option(
        "--out", type=click.Path(path_type=Path), metavar="FILE", help="Keep the result there, as JSON."
    ),
    click.option(
        "--recorded",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Show this result; search nothing.",
    ),
)
def ablate(
    plan: Path, seeds: int | None, jobs: int, out: Path | None, recorded: Path | None, as_json: bool
) -> None:
    """Compare ways to search on recorded landscapes, as the file PLAN declares.

    Nothing is judged: every setting answers with the time that was recorded for it. Prints a Markdown table.

    \b
    Examples:
      kernelarc ablate docs/results/ablations/warm-start.yaml --jobs 4 --out warm.json
      kernelarc ablate docs/results/ablations/warm-start.yaml --recorded warm.json
    """
    from pipeline.ablation.plan import read_plan
    from pipeline.ablation.result import Result
    from pipeline.ablation.running import run
    from tasks.errors import TaskError
    from tasks.whole_file import write_whole

    declared = read_plan(plan)
    if recorded is not None:
        try:
            result = Result.model_validate_json(recorded.read_bytes())
        except ValueError:
            raise TaskError("is no result of an ablation", file=recorded, mend="make it with --out") from None
        if result.plan.model_copy(update={"landscapes": ()}) != declared.model_copy(
            update={"landscapes": ()}
        ):
            raise TaskError("is of another plan", file=recorded, field="plan", mend="run the plan again")
    else:
        asked = declared if seeds is None else declared.model_copy(update={"seeds": seeds})
        result = run(asked, lambda text: click.echo(text, err=True), jobs)
        # where the landscapes lay is no part of what was found
        names = tuple(Path(path.name) for path in result.plan.landscapes)
        result = result.model_copy(update={"plan": result.plan.model_copy(update={"landscapes": names})})
    if out is not None:
        write_whole(out, result.model_dump_json().encode() + b"\n")
    emit(as_json, result.model_dump(mode="json"), result.page)
