"""`kernelarc snapshot`."""

from datetime import datetime
from pathlib import Path
from typing import Any

import click

from pipeline.commands.options import (
    data_option,
    device_option,
    emit,
    inputs_option,
    options,
    precision_option,
    settings_from,
)

_SNAPSHOTS = Path("leaderboard/snapshots")


@click.command()
@click.argument("folder", metavar="FOLDER|TASK")
@options(
    click.option(
        "--out", "place", type=click.Path(path_type=Path), default=_SNAPSHOTS, show_default=True,
        help="The folder it is written into.",
    ),
    click.option(
        "--date", "taken_on", type=click.DateTime(["%Y-%m-%d"]), metavar="YYYY-MM-DD",
        help="The date it bears. [default: when it was judged]",
    ),
    click.option(
        "--sentinel", "sentinels", multiple=True, type=click.Path(path_type=Path), metavar="SNAPSHOT",
        help="A kernel that stands for the card's speed; may be given several times.",
    ),
    click.option(
        "--solution", type=click.Path(path_type=Path), metavar="FILE",
        help="Judge this file now, in fresh processes, for the task named in place of FOLDER.",
    ),
    click.option("--inline/--by-digest", default=True, help="Whether it holds the solution. [default: yes]"),
    data_option, device_option, inputs_option, precision_option,
)  # fmt: skip
def snapshot(
    folder: str,
    place: Path,
    taken_on: datetime | None,
    sentinels: tuple[Path, ...],
    solution: Path | None,
    inline: bool,
    as_json: bool,
    **given: Any,
) -> None:
    """Freeze the submission in FOLDER as a snapshot that anyone can reproduce.

    It is named by its digest: the same submission gives the same file, a changed one is refused. With
    --solution there is no search: the file is judged under the final protocol, on this device as its own target,
    and its submission is kept, too.

    \b
    Examples:
      kernelarc snapshot submissions/ready/L1/l1_rmsnorm/0123456789ab
      kernelarc snapshot l1_rmsnorm --solution mine.json --device cuda
      kernelarc snapshot submissions/draft/L2/l2_decoder/0123456789ab --out mine --by-digest --json
    """
    from leaderboard.snapshot_file import read_snapshot, write_snapshot
    from pipeline.freeze import freeze, submitted
    from pipeline.progress import Lines

    settings = settings_from(given)
    source = Path(folder) if solution is None else submitted(settings, folder, solution, Lines())
    found = freeze(
        settings,
        source,
        taken_on=taken_on.date() if taken_on else None,
        inline=inline,
        sentinels=[read_snapshot(path) for path in sentinels],
    )
    path = write_snapshot(found, place)
    score = None if found.score is None else found.score.score
    content = {"file": str(path), "digest": found.digest, "readiness": found.readiness, "score": score}
    scored = "no score: no tables for it" if found.score is None else str(found.score)
    emit(as_json, content, f"{path}\n{found.readiness}, {len(found.times)} workloads timed\n{scored}")
