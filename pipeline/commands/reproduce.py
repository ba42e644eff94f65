"""`kernelarc reproduce`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.commands.options import (
    data_option,
    device_option,
    emit,
    inputs_option,
    options,
    settings_from,
)  # fmt: skip

if TYPE_CHECKING:
    from leaderboard.holds import Holding


@click.command()
@click.argument("snapshot", type=click.Path(path_type=Path))
@options(
    click.option(
        "--max-seconds", type=click.FloatRange(min=0, min_open=True), metavar="S",
        help="Leave out, by name, the workloads that no longer fit.",
    ),
    click.option(
        "--across", multiple=True, type=click.Choice(["driver", "clocks", "libraries"]),
        help="Compare although this differs; may be given several times.",
    ),
    click.option(
        "--submission", type=click.Path(path_type=Path),
        help="The submission's folder, for a snapshot that holds only the solution's digest.",
    ),
    click.option(
        "--sentinel", "sentinels", multiple=True, type=click.Path(path_type=Path), metavar="SNAPSHOT",
        help="Judged here first when this is another card than the snapshot's.",
    ),
    data_option, device_option, inputs_option,
)  # fmt: skip
def reproduce(
    snapshot: Path,
    max_seconds: float | None,
    across: tuple[str, ...],
    submission: Path | None,
    sentinels: tuple[Path, ...],
    as_json: bool,
    **given: Any,
) -> int:
    """Rebuild the candidate in SNAPSHOT, judge it again in fresh processes, and say whether it holds.

    Answers REPRODUCED, FASTER, SLOWER, INCONCLUSIVE, POWER_CAPPED, REJECTED, or NOT COMPARABLE with the
    difference named. Exit 0 when every workload is reproduced, 1 when not, 2 when it cannot be compared.

    \b
    Examples:
      kernelarc reproduce leaderboard/snapshots/l1_rmsnorm-0123456789ab.json
      kernelarc reproduce l2_decoder-0123456789ab.json --max-seconds 300 --across driver --json
    """
    from leaderboard.snapshot_file import read_snapshot
    from pipeline.progress import Lines
    from pipeline.recheck import recheck

    found = recheck(
        read_snapshot(snapshot),
        settings_from(given),
        Lines(),
        submission=submission,
        sentinels=[read_snapshot(path) for path in sentinels],
        excused=frozenset(across),  # type: ignore[arg-type]
        max_seconds=max_seconds,
    )
    verdict, holding = found.verdict, found.holding
    content = {
        "holds": holding.holds,
        **holding.model_dump(mode="json"),
        "status": verdict.status,
        "environment": verdict.environment.model_dump(mode="json"),
    }
    said = "accepted again, every output checked" if verdict.status == "accepted" else "rejected now"
    emit(as_json, content, "\n".join([f"correctness: {said}", *holding.lines()]))
    return code_of(holding)


def code_of(holding: "Holding") -> int:
    """0 it holds, 1 it does not, 2 it cannot be compared."""
    from leaderboard.equivalence import Answer

    if holding.answer is Answer.NOT_COMPARABLE:
        return 2
    return 0 if holding.holds else 1
