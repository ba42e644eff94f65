"""The command line of `python -m scripts.leaderboard_bars`."""

import json
import sys
import time
from pathlib import Path
from typing import Any, Literal

import click

from guard.session import Session
from pipeline.settings import read_settings
from scripts.arguments import command_line
from scripts.leaderboard_bars import __doc__ as about
from scripts.leaderboard_bars.asked import Asked
from scripts.leaderboard_bars.bench import Bench
from scripts.leaderboard_bars.steps import DO, measured
from scripts.leaderboard_bars.steps import steps as steps_of
from scripts.leaderboard_bars.summary import met, summary


@click.command(help=about)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
@click.option(
    "--snapshots", type=click.Path(path_type=Path, file_okay=False), default=Path("leaderboard/snapshots")
)
@click.option("--steps", default=",".join(DO), show_default=True)
@click.option("--max-seconds", type=float, default=360.0, show_default=True)
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cuda", show_default=True)
@click.option(
    "--task", "names", multiple=True, default=("l1_swiglu", "l1_rmsnorm", "l1_rope"), show_default=True
)
@click.option("--agent", default="template", show_default=True, help="Whose first candidate is the champion.")
@click.option("--sentinel", "sentinels", multiple=True, help="Of the frozen ones. [default: all]")
@click.option("--injected", default="sentinel_copy", show_default=True)
@click.option("--injection", default=2.0, show_default=True, help="Percent of its time.")
@click.option("--delayed", default="l1_swiglu", show_default=True)
@click.option("--dose", default=3.0, show_default=True, help="Percent of each workload's time.")
@click.option("--repeats", default=3, show_default=True)
@click.option("--workloads", default=3, show_default=True, help="Of each task that is judged again.")
@click.option("--processes", type=int, help="Of a sentinel's judgement. [default: the final protocol's]")
@click.option("--champion-processes", type=int, help="Of a champion's. [default: the final protocol's]")
@click.option("--summary", "shown", is_flag=True, help="Measure nothing: say what --out holds.")
def main(
    out: Path, steps: str, max_seconds: float, device: Literal["cpu", "cuda"], shown: bool, **given: Any
) -> None:  # fmt: skip
    record = _read(out)
    if not shown:
        _measure(record, out, _steps(steps), max_seconds, device, Asked(**given))
    for line in summary(record["rows"]):
        click.echo(line)
    click.echo(
        ", ".join(f"{step} {'met' if good else 'missed'}" for step, good in met(record["rows"]).items())
    )


def _measure(
    record: dict[str, Any], out: Path, chosen: tuple[str, ...], max_seconds: float,
    device: Literal["cpu", "cuda"], asked: Asked,
) -> None:  # fmt: skip
    began = time.monotonic()
    dearest: dict[str, float] = {}
    before = record["seconds"]
    settings = read_settings({"device": device, "target": "LOCAL"})
    with Session(device) as session:
        bench = Bench(asked, settings, session, record["rows"])
        for step in steps_of(bench, chosen):
            if _is_done(record["rows"], step.key):
                continue
            kind = step.key[0]
            if time.monotonic() - began + dearest.get(kind, 0.0) > max_seconds:
                click.echo(f"{step.key}: no time is left for it", err=True)
                continue
            row = measured(step)
            record["rows"] = bench.rows = [r for r in record["rows"] if _key(r) != step.key] + [row]
            dearest[kind] = max(dearest.get(kind, 0.0), row["seconds"])
            record["seconds"] = round(before + time.monotonic() - began, 1)
            _write(out, record)
            click.echo(
                f"{step.key} {row['seconds']} s: {row.get('why') or row.get('answer') or row['file']}",
                err=True,
            )


def _steps(text: str) -> tuple[str, ...]:
    chosen = tuple(text.split(","))
    if unknown := [each for each in chosen if each not in DO]:
        click.echo(f"--steps: there is no step {unknown[0]!r}; known are {', '.join(DO)}", err=True)
        sys.exit(2)
    return chosen


def _key(row: dict[str, Any]) -> tuple[str, str, int]:
    return row["step"], row["task"], row["number"]


def _is_done(rows: list[dict[str, Any]], key: tuple[str, str, int]) -> bool:
    return any(_key(row) == key and "why" not in row for row in rows)


def _read(out: Path) -> dict[str, Any]:
    if out.exists():
        held: dict[str, Any] = json.loads(out.read_text())
        return held
    return {"command": command_line("scripts.leaderboard_bars"), "seconds": 0.0, "rows": []}


def _write(out: Path, record: dict[str, Any]) -> None:
    spare = out.with_suffix(".part")
    spare.write_text(json.dumps(record, indent=1) + "\n")
    spare.replace(out)
