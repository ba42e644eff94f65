"""The command line of `python -m scripts.headline`."""

import json
import sys
import time
from pathlib import Path
from typing import Any, Literal

import click

import tasks
from guard.comparison import CannotReject
from guard.duel import duel
from guard.duel_header import header_of
from guard.duel_record import Published
from guard.errors import GuardBroken
from guard.session import Session
from guard.terms import terms_for
from leaderboard.whole_file import write_whole
from pipeline.cpu_share import cpu_share
from scripts.arguments import command_line
from scripts.headline import __doc__ as about
from scripts.headline.candidates import ours, peer_of
from scripts.headline.rows import ROWS, Row
from scripts.headline.table import table
from tasks.errors import TaskError
from tasks.task import Task

Protocol = Literal["screen", "search", "final", "gate"]


@click.command(help=about)
@click.option("--rows", "names", default="", help="Parted by commas; all where nothing is said.")
@click.option(
    "--settings", multiple=True, type=click.Path(path_type=Path, exists=True), help="A landscape's file."
)
@click.option("--protocol", type=click.Choice(["screen", "search", "final", "gate"]), default="search")
@click.option("--max-seconds", type=float, default=600.0, show_default=True)
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cuda", show_default=True)
@click.option("--again", is_flag=True, help="Measure rows anew that the file already holds.")
@click.option("--table", "shown", is_flag=True, help="Measure nothing: print what --out holds, in Markdown.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
def main(
    names: str, settings: tuple[Path, ...], protocol: Protocol, max_seconds: float,
    device: Literal["cpu", "cuda"], again: bool, shown: bool, out: Path,
) -> None:  # fmt: skip
    if shown:
        click.echo(table(_read(out)))
        return
    until = time.monotonic() + max_seconds
    chosen = [name for name in names.split(",") if name] or list(ROWS)
    if unknown := [name for name in chosen if name not in ROWS]:
        click.echo(f"headline: there is no row {unknown[0]!r}; known are {', '.join(ROWS)}", err=True)
        sys.exit(2)
    record = _read(out)
    with Session(device) as session:
        for name in chosen:
            done = any(row["row"] == name and "why" not in row for row in record["rows"])
            if (done and not again) or time.monotonic() > until:
                continue
            found = _measured(name, ROWS[name], settings, protocol, session, until)
            record["rows"] = [row for row in record["rows"] if row["row"] != name] + [found]
            write_whole(out, json.dumps(record, indent=1) + "\n")
            click.echo(f"{name}: {found.get('why') or found['said']}", err=True)


def _measured(
    name: str, row: Row, settings: tuple[Path, ...], protocol: Protocol, session: Session, until: float
) -> dict[str, Any]:
    began = time.monotonic()
    found: dict[str, Any] = {"row": name, "task": row.task, "bar": row.bar, "places": list(row.places)}
    try:
        task = _task(row, session.device)
        peer, candidate = peer_of(row, task), ours(row, task, settings)
        terms = terms_for(protocol, session.device)
        header = header_of(task, peer, candidate, terms, session)
        published = duel(
            task, peer, candidate, header, session, max_seconds=until - time.monotonic(),
            progress=lambda text: click.echo(f"  {text}", err=True),
        )  # fmt: skip
    except (TaskError, GuardBroken, CannotReject) as error:
        return {**found, "why": str(error), "seconds": round(time.monotonic() - began, 1)}
    return {
        **found, **_verdict(row, published), "settings": [path.name for path in settings],
        "environment": header.environment.model_dump(mode="json"), "timer": header.timer, "protocol": protocol,
        "peer": header.baseline.model_dump(), "candidate": header.candidate.model_dump(),
        "strategy": candidate.strategy, "source": candidate.solution.sources[0].content,
        "axes": {w.uuid: dict(w.axes) for w in task.workloads},
        "published": published.model_dump(mode="json", exclude={"figures"}),
        "seconds": round(time.monotonic() - began, 1),
    }  # fmt: skip


def _task(row: Row, device: str) -> Task:
    task = tasks.load(row.task)
    places = row.places or range(len(task.workloads))
    task = task.model_copy(update={"workloads": tuple(task.workloads[place] for place in places)})
    return cpu_share(task) if device == "cpu" else task


def _verdict(row: Row, published: Published) -> dict[str, Any]:
    """Whether the bar is met; None where nothing was concluded."""
    slowest = max((1e3 * each.candidate_ms for each in published.latencies), default=None)
    ratio = published.comparison.overall.ratio if published.comparison else None
    ratio = published.screen.ratio if published.screen else ratio
    if published.rejected or ratio is None or slowest is None:
        return {"ratio": ratio, "slowest_us": slowest, "met": None, "said": "; ".join(published.lines())}
    met = (row.most_ratio is None or ratio <= row.most_ratio) and (
        row.most_us is None or slowest <= row.most_us
    )
    said = (
        f"{'met' if met else 'missed'}: {ratio:.4f} of the peer's time, slowest {slowest:.2f} us ({row.bar})"
    )
    return {"ratio": ratio, "slowest_us": slowest, "met": met, "said": said}


def _read(out: Path) -> dict[str, Any]:
    if out.exists():
        held: dict[str, Any] = json.loads(out.read_text())
        return held
    return {"command": command_line("scripts.headline"), "rows": []}
