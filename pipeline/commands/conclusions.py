"""`kernelarc conclusions`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.commands.options import emit, options, runs_option

if TYPE_CHECKING:
    from pipeline.blackboard.reading import Found


@click.command()
@click.argument("task", required=False)
@options(
    runs_option,
    click.option("--blackboard", metavar="URL", help="A shared blackboard, in place of those of the runs."),
    click.option("--kind", type=click.Choice(["win", "trap"]), help="Only these."),
)
def conclusions(
    task: str | None, runs: str | None, blackboard: str | None, kind: str | None, as_json: bool
) -> None:
    """What searches concluded about TASK (or about all tasks): wins and traps, with their evidence.

    \b
    Examples:
      kernelarc conclusions l2_decoder
      kernelarc conclusions --kind win --json
    """
    from pipeline.blackboard.reading import conclusions_of
    from pipeline.search_setup import BLACKBOARD
    from tasks.errors import TaskError

    if runs is not None and not Path(runs).is_dir():
        raise TaskError(
            "is no folder", file=runs, field="--runs", mend="name the folder that journals are kept in"
        )
    if blackboard is not None and not blackboard.strip():
        raise TaskError(
            "names nothing", field="--blackboard", mend="give a SQLAlchemy address, or leave it out"
        )
    files = sorted(Path(runs or "runs").glob(f"*/{BLACKBOARD}"))
    urls = [blackboard] if blackboard else [f"sqlite:///{file}" for file in files]
    found = [f for f in conclusions_of(urls, task) if kind in (None, f.conclusion.kind)]
    text = "\n".join(map(_lines, found)) if found else "nothing was concluded yet"
    emit(as_json, [f.model_dump(mode="json") for f in found], text)


def _lines(found: "Found") -> str:
    conclusion = found.conclusion
    what = f"x {conclusion.speedup:.3f}" if conclusion.speedup else (conclusion.error or "-")
    shapes = ", ".join(
        f"{axis} {low}" if low == high else f"{axis} {low} to {high}"
        for axis, (low, high) in conclusion.scope.shapes.items()
    )
    return (
        f"{conclusion.kind}  {what}  seen {found.replications} x, value {found.value:.3f}  {conclusion.strategy}\n"
        f"      {conclusion.reflection}\n"
        f"      where: {conclusion.scope.kernel_type}, {conclusion.scope.architecture}"
        f"{', ' + shapes if shapes else ''}; evidence: {', '.join(d[:12] for d in conclusion.evidence)}"
    )
