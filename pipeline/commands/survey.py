"""`kernelarc survey`."""

from datetime import datetime
from pathlib import Path

import click

from pipeline.commands.desk import at_option, ledger_option, moment
from pipeline.commands.options import emit, options, table


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@options(
    click.option("--me", default="", metavar="NAME", help="Your name on the board: its results are your own best."),
    click.option(
        "--by", type=click.Choice(["worth", "fifth", "first", "headroom", "stale"]), default="worth",
        show_default=True, help="What comes first.",
    ),
    click.option("--top", type=click.IntRange(min=1), default=20, show_default=True, help="Problems shown."),
    at_option, ledger_option,
)  # fmt: skip
def survey(
    files: tuple[Path, ...], me: str, by: str, top: int, at: str | None, ledger: Path, as_json: bool
) -> None:
    """Rank the problems in saved board JSON by where a point is cheapest to win.

    Save what the board's pages load: the list of kernels, and the ranking of each. Your own best comes from the
    desk's ledger and from --me. The cost of a place is counted in halvings of the distance to the speed of light.

    \b
    Examples:
      kernelarc survey board/*.json
      kernelarc survey board/*.json --me ada --by fifth --top 50 --json
    """
    from leaderboard.desk import own_scores, read_ledger
    from leaderboard.public_board import read_rankings
    from leaderboard.survey import survey as rank

    own = own_scores(read_ledger(ledger))
    now = datetime.fromisoformat(moment(at))
    found = rank(read_rankings(files), own, now, me, by)  # type: ignore[arg-type]
    rows: list[tuple[str, ...]] = [
        ("worth", "aim", "gain", "halvings", "own", "1st", "5th", "places", "headroom", "stale", "problem")
    ]
    for chance in found[:top]:
        gain = {"first": chance.to_first, "fifth": chance.to_fifth}.get(
            chance.aim, max(0.0, 0.5 - chance.own)
        )
        stale = "-" if chance.stale_days is None else f"{chance.stale_days} d"
        bars = ("-" if bar is None else f"{bar:.4f}" for bar in (chance.first, chance.fifth))
        rows.append(
            (f"{chance.worth:.4f}", chance.aim, f"{gain:.4f}", f"{chance.halvings:.2f}", f"{chance.own:.4f}", *bars,
             str(chance.places), f"{chance.headroom:.4f}", stale, chance.name)
        )  # fmt: skip
    stacks = sorted({chance.stack for chance in found if chance.stack})
    mixed = (
        f"\nseveral evaluation stacks, whose scores do not compare: {', '.join(stacks)}"
        if len(stacks) > 1
        else ""
    )
    text = f"{table(rows)}\n{len(found)} problems{mixed}"
    emit(as_json, [chance.model_dump(mode="json") for chance in found[:top]], text)
