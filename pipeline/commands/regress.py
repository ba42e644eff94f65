"""`kernelarc regress`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.commands.options import data_option, device_option, emit, inputs_option, options, settings_from

if TYPE_CHECKING:
    from leaderboard.snapshot import Snapshot

_SNAPSHOTS = Path("leaderboard/snapshots")
_SECONDS = 600.0


@click.command()
@click.argument("against", nargs=-1, metavar="[SNAPSHOT...]", type=click.Path(path_type=Path))
@options(
    click.option(
        "--max-seconds", type=click.FloatRange(min=0, min_open=True), metavar="S",
        help="For all snapshots together; what no longer fits is left out by name. [default: 600 where none is named]",
    ),
    click.option(
        "--sessions", "root", type=click.Path(path_type=Path), default=Path(".kernelarc/sessions"),
        show_default=True, help="Where the series of earlier checks is kept.",
    ),
    click.option(
        "--benchmark-json", type=click.Path(path_type=Path), metavar="FILE",
        help="Write the times as pytest-benchmark does.",
    ),
    click.option(
        "--import", "imported", type=click.Path(path_type=Path), multiple=True, metavar="FILE",
        help="Judge nothing: add what such a file says to the series, and ask the series alone.",
    ),
    data_option, device_option, inputs_option,
)  # fmt: skip
def regress(
    against: tuple[Path, ...],
    max_seconds: float | None,
    root: Path,
    benchmark_json: Path | None,
    imported: tuple[Path, ...],
    as_json: bool,
    **given: Any,
) -> int:
    """Check a driver: judge the candidates in SNAPSHOT again where nothing but the driver may differ.

    Where none is named, all under leaderboard/snapshots, the sentinels first; `kernelarc sentinels` takes these.

    What the first processes leave open is judged by as many more where time allows.

    Every check adds a session to the series of its card; after three with a new driver and eight with older
    ones the series answers too. Exit 0 when nothing is slower, 1 when something is, cannot be told, or was
    left out, 2 when this is not the baseline's device.

    \b
    Examples:
      kernelarc regress
      kernelarc regress leaderboard/snapshots/*.json --max-seconds 600 --benchmark-json driver.json
      kernelarc regress leaderboard/snapshots/*.json --import from-another-day.json
    """
    from leaderboard.snapshot_file import read_snapshot
    from leaderboard.whole_file import write_whole
    from pipeline.progress import Lines
    from pipeline.regress import as_benchmark, code_of
    from pipeline.regress import regress as check

    snapshots = [read_snapshot(path) for path in against or _default_set()]
    if not against and max_seconds is None:
        max_seconds = _SECONDS
    if imported:
        return _join(imported, snapshots, root, as_json)
    found = check(snapshots, settings_from(given), Lines(), root=root, max_seconds=max_seconds)
    if benchmark_json is not None:
        write_whole(benchmark_json, json.dumps(as_benchmark(found), indent=1) + "\n")
    content = [{"good": r.is_good, **r.model_dump(mode="json")} for r in found]
    emit(as_json, content, "\n".join(line for r in found for line in r.lines()))
    return code_of(found)


def _default_set() -> list[Path]:
    from tasks.errors import TaskError

    found = sorted(_SNAPSHOTS.glob("*.json"), key=lambda path: (not path.name.startswith("sentinel_"), path))
    if not found:
        raise TaskError(
            "holds no snapshot", file=_SNAPSHOTS, mend="take the sentinels with `kernelarc sentinels`"
        )
    return found


def _join(files: Sequence[Path], snapshots: "Sequence[Snapshot]", root: Path, as_json: bool) -> int:
    """The series of every snapshot and card that the files speak of; 1 when one of them says slower."""
    from leaderboard.benchmark_sessions import sessions_in
    from leaderboard.sessions import examine, read_sessions, write_session

    names = {snapshot.name: snapshot.digest for snapshot in snapshots}
    series: dict[tuple[str, str | None], str] = {}
    for file in files:
        found = sessions_in(file, names)
        for stranger in found.strangers:
            click.echo(f"{file}: {stranger} is none of the snapshots", err=True)
        for session in found.sessions:
            write_session(session, root)
            name = next(name for name, digest in names.items() if digest == session.snapshot)
            series[session.snapshot, session.environment.uuid] = name
    said = {key: examine(read_sessions(root, *key)) for key in series}
    content = [
        {"name": series[key], "card": key[1], **one.model_dump(mode="json")} for key, one in said.items()
    ]
    lines = [f"{series[key]}: {line}" for key, one in said.items() for line in one.lines()]
    emit(as_json, content, "\n".join(lines) or "nothing in it is about these snapshots")
    return 1 if any(one.slower for one in said.values()) else 0
