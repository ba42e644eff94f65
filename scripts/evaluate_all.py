"""Judge each problem's own reference as a solution, at full size, on every workload that fits this GPU.

    python -m scripts.evaluate_all --out FILE [--max-seconds S] TASK [TASK ...]

A campaign: tasks in the order given, what is recorded in FILE already is not done again, and it stops before
a task when the time is over. Calls are few, since eager references are slow and only correctness is asked.
"""

import json
import time
from pathlib import Path
from typing import Any

import click

import tasks
from guard.errors import GuardBroken
from guard.judge import judge
from guard.protocol import SMOKE
from guard.session import Session
from leaderboard.whole_file import write_whole
from scripts.arguments import command_line
from scripts.oracle_agreement import variants
from tasks.errors import TaskError
from tasks.synthetic import mark_synthetic

_FEW = SMOKE.model_copy(update={"measured_calls": 2, "warmup_calls": 2, "timed_calls": 10})


def row(session: Session, name: str, most: int) -> dict[str, Any]:
    """The verdict in short, or the sentence that says why there is none."""
    task, began = mark_synthetic(tasks.load(name)), time.monotonic()
    whole = len(task.workloads)
    task = task.model_copy(update={"workloads": task.workloads[:most]})
    found: dict[str, Any] = {
        "task": name,
        "judged": f"{len(task.workloads)} of {whole}",
        "marks": list(task.marks),
    }
    try:
        verdict = judge(task, variants(task)["eager"], _FEW, session)
    except (GuardBroken, TaskError) as error:
        return {
            **found,
            "status": "not judged",
            "why": str(error),
            "seconds": round(time.monotonic() - began, 1),
        }
    return {
        **found, "status": verdict.status, "reason": verdict.reason.model_dump(mode="json") if verdict.reason else None,
        "statuses": [w.status.value for w in verdict.workloads], "latency_ms": [w.latency_ms for w in verdict.workloads],
        "flags": list(verdict.flags), "environment": verdict.environment.model_dump(mode="json"),
        "seconds": round(time.monotonic() - began, 1),
    }  # fmt: skip


@click.command(help=__doc__)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cuda", show_default=True)
@click.option("--max-seconds", default=500.0, show_default=True)
@click.option("--most", default=1000, show_default=True, help="Workloads of a task, the first ones.")
@click.argument("names", nargs=-1, required=True)
def main(out: Path, device: Any, max_seconds: float, most: int, names: tuple[str, ...]) -> None:
    began = time.monotonic()
    record: dict[str, Any] = {"command": command_line("scripts.evaluate_all"), "rows": []}
    if out.exists():
        record = json.loads(out.read_text())
    done = {r["task"] for r in record["rows"]}
    with Session(device) as session:
        for name in (n for n in names if n not in done):
            if time.monotonic() - began > max_seconds:
                click.echo(f"stopped before {name}: {max_seconds:.0f} s are over", err=True)
                break
            record["rows"].append(row(session, name, most))
            write_whole(out, json.dumps(record, indent=1) + "\n")
            last = record["rows"][-1]
            click.echo(
                f"{last['seconds']:6.1f} s {last['status']:10} {name} {last.get('why') or last['reason'] or ''}",
                err=True,
            )


if __name__ == "__main__":
    main()
