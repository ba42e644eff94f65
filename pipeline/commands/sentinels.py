"""`kernelarc sentinels`."""

from pathlib import Path
from typing import Any

import click

from pipeline.commands.options import device_option, emit, options, settings_from

_SNAPSHOTS = Path("leaderboard/snapshots")


@click.command()
@click.argument("names", nargs=-1, metavar="[SENTINEL...]")
@options(
    click.option(
        "--out", "place", type=click.Path(path_type=Path), default=_SNAPSHOTS, show_default=True,
        help="The folder their snapshots are written into.",
    ),
    click.option(
        "--max-seconds", type=click.FloatRange(min=0, min_open=True), metavar="S",
        help="Leave out those that would no longer fit.",
    ),
    device_option,
)  # fmt: skip
def sentinels(
    names: tuple[str, ...], place: Path, max_seconds: float | None, as_json: bool, **given: Any
) -> int:
    """Take snapshots of the frozen sentinels on this GPU, all of them where none is named.

    They are cubins that were built once, so that of two sessions only the driver can differ: the start of a
    driver check (`regress`), and what cards are compared by (`snapshot --sentinel`). Exit 1 when one was left out.

    \b
    Examples:
      kernelarc sentinels
      kernelarc sentinels sentinel_copy sentinel_product --out mine
    """
    from leaderboard.frozen.kernel import sentinel_names
    from leaderboard.snapshot_file import write_snapshot
    from pipeline.progress import Lines
    from pipeline.sentinels import take_sentinels

    written = []
    for snapshot in take_sentinels(settings_from(given), names, Lines(), max_seconds):
        written.append(str(write_snapshot(snapshot, place)))
        if not as_json:
            click.echo(written[-1])
    emit(as_json, {"files": written}, f"{len(written)} snapshots")
    return 0 if len(written) == len(names or sentinel_names()) else 1
