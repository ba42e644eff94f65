"""`kernelarc board`."""

from pathlib import Path
from typing import Any

import click

from pipeline.commands.options import data_option, emit, options, runs_option, settings_from
from pipeline.commands.query import store_option


@click.command()
@options(
    click.option(
        "--out", "folder", type=click.Path(path_type=Path), default=Path("board"), show_default=True,
        help="The folder it is written into; an older page there is replaced.",
    ),
    click.option("--submissions", "out", metavar="DIR", help="Where submissions are. [default: submissions]"),
    click.option(
        "--snapshots", type=click.Path(path_type=Path), default=Path("leaderboard/snapshots"), show_default=True,
        help="Where snapshots are.",
    ),
    click.option(
        "--sessions", type=click.Path(path_type=Path), default=Path(".kernelarc/sessions"), show_default=True,
        help="Where driver checks are.",
    ),
    click.option("--t-sol", type=click.Path(path_type=Path), help="Your own table of T_SOL; with --t-b."),
    click.option("--t-b", type=click.Path(path_type=Path), help="Your own table of T_b; with --t-sol."),
    click.option(
        "--problems", type=click.IntRange(min=1), metavar="N", help="Problems of the benchmark. [default: the scored]"
    ),
    runs_option, store_option, data_option,
)  # fmt: skip
def board(
    folder: Path,
    snapshots: Path,
    sessions: Path,
    t_sol: Path | None,
    t_b: Path | None,
    problems: int | None,
    url: str,
    as_json: bool,
    **given: Any,
) -> None:
    """Write a page of everything here: scores, plots, histories and sources, in one folder that opens from disk.

    Nothing in it asks the network. A submission is shown when its checksums hold; `verify` proves the rest.

    \b
    Examples:
      kernelarc board
      kernelarc board --out ~/page --data ~/SOL-ExecBench --problems 235
    """
    from pipeline.board import Places, build
    from tasks.errors import TaskError

    if (t_sol is None) != (t_b is None):
        raise TaskError("comes with its other half", field="--t-sol", mend="give --t-sol and --t-b together")
    for place, field in (
        (given.get("out"), "--submissions"),
        (snapshots, "--snapshots"),
        (sessions, "--sessions"),
    ):
        if place is not None and Path(place).exists() and not Path(place).is_dir():
            raise TaskError("is no folder", file=place, field=field, mend="name a folder, or leave it out")
    own = (t_sol, t_b) if t_sol is not None and t_b is not None else None
    built = build(settings_from(given), folder, Places(snapshots, sessions, url), own, problems)
    for line in built.skipped:
        click.echo(f"not shown: {line}", err=True)
    site = built.site
    content = {
        "page": str(site.folder / "index.html"),
        "tasks": site.tasks,
        "entries": site.entries,
        "bytes": site.size,
        "not_shown": list(built.skipped),
    }
    said = f"{site.tasks} tasks, {site.entries} submissions and snapshots, {site.size / 1e6:.1f} MB"
    emit(as_json, content, f"{site.folder / 'index.html'}\n{said}")
