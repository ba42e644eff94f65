"""A campaign over many problems: a few candidates of every agent, judged on a few workloads each.

    python -m scripts.champions --out FILE [--max-seconds S] [--workloads 4] TASK [TASK ...]

The reference as it is and compiled are the baseline T_b; library, rewrite and template candidates are ours. One
process a candidate, official medians: enough to rank, and what a snapshot would say again in fresh processes. What
FILE holds is not done again.

    python -m scripts.champions --table FILE     the table of what FILE holds, in Markdown
"""

import json
import time
from pathlib import Path
from typing import Any

import click

import tasks
from agents import create
from guard.errors import GuardBroken
from guard.judge import judge
from guard.protocol import SMOKE
from guard.session import Session
from leaderboard.whole_file import write_whole
from scripts.arguments import command_line
from scripts.champions.table import table
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.synthetic import mark_synthetic
from tasks.task import Task

BASELINES = ("reference", "compile")
OURS = ("template", "rewrite", "library")
_ASKS = {"reference": 1, "compile": 2, "template": 2, "rewrite": 2, "library": 1}
_PROTOCOL = SMOKE.model_copy(update={"evaluation_limit_s": 120.0, "build_limit_s": 90.0})


def spread(task: Task, most: int) -> Task:
    """The task with `most` of its workloads, from the smallest to the largest in even steps."""
    ordered = sorted(task.workloads, key=lambda w: sum(w.axes.values()))
    if len(ordered) <= most:
        return task
    places = sorted({round(step * (len(ordered) - 1) / (most - 1)) for step in range(most)})
    return task.model_copy(update={"workloads": tuple(ordered[place] for place in places)})


def candidates(task: Task) -> list[tuple[str, Candidate]]:
    """The first few of every agent, each once."""
    found: dict[str, tuple[str, Candidate]] = {}
    for name in (*BASELINES, *OURS):
        agent = create(name, task, 0, target="LOCAL")
        for _ in range(_ASKS[name]):
            candidate = agent.ask()
            if candidate is not None:
                found.setdefault(candidate.digest, (name, candidate))
    return list(found.values())


def judged(session: Session, task: Task, agent: str, candidate: Candidate) -> dict[str, Any]:
    began = time.monotonic()
    found: dict[str, Any] = {"agent": agent, "strategy": candidate.strategy, "digest": candidate.digest}
    try:
        verdict = judge(task, candidate, _PROTOCOL, session)
    except GuardBroken as error:
        return {**found, "status": "not judged", "why": str(error)}
    return {
        **found, "status": verdict.status,
        "reason": verdict.reason.model_dump(mode="json", include={"code", "message"}) if verdict.reason else None,
        "latency_ms": [w.latency_ms for w in verdict.workloads], "timer": verdict.workloads[0].timer,
        "flags": list(verdict.flags), "seconds": round(time.monotonic() - began, 1),
        "environment": verdict.environment.model_dump(mode="json"),
    }  # fmt: skip


def row(session: Session, name: str, most: int, until: float) -> dict[str, Any]:
    task = spread(mark_synthetic(tasks.load(name)), most)
    tried = []
    for agent, candidate in candidates(task):
        if time.monotonic() > until:
            break
        tried.append(judged(session, task, agent, candidate))
        click.echo(
            f"  {agent:9} {tried[-1]['status']:10} {tried[-1].get('latency_ms')} {candidate.strategy[:60]}",
            err=True,
        )
    environments = [found.pop("environment") for found in tried if "environment" in found]
    return {
        "task": name, "workloads": [w.uuid for w in task.workloads], "marks": list(task.marks), "candidates": tried,
        "environment": environments[0] if environments else None,
    }  # fmt: skip


@click.command(help=__doc__)
@click.option("--out", type=click.Path(path_type=Path))
@click.option(
    "--table", "shown", type=click.Path(path_type=Path, exists=True), help="Print what this file holds."
)
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cuda", show_default=True)
@click.option("--max-seconds", default=500.0, show_default=True)
@click.option("--workloads", "most", default=4, show_default=True, help="Of each task.")
@click.argument("names", nargs=-1)
def main(
    out: Path | None, shown: Path | None, device: Any, max_seconds: float, most: int, names: tuple[str, ...]
) -> None:
    if shown is not None:
        click.echo(table(json.loads(shown.read_text())))
        return
    if out is None or not names:
        raise click.UsageError("say --out FILE and the names of tasks")
    began, until = time.monotonic(), time.monotonic() + max_seconds
    record: dict[str, Any] = {"command": command_line("scripts.champions"), "rows": []}
    if out.exists():
        record = json.loads(out.read_text())
    with Session(device) as session:
        for name in names:
            if name in {done["task"] for done in record["rows"]} or time.monotonic() > until:
                continue
            click.echo(name, err=True)
            try:
                record["rows"].append(row(session, name, most, until))
            except TaskError as error:
                record["rows"].append(
                    {"task": name, "why": str(error), "candidates": [], "workloads": [], "marks": []}
                )
            record["seconds"] = round(time.monotonic() - began, 1)
            write_whole(out, json.dumps(record, indent=1) + "\n")
