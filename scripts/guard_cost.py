"""How long a comparison of two candidates takes: a screen of 2 against 2 processes, and a final of 10 against 10.

    python -m scripts.guard_cost --out FILE [--max-seconds S] [TASK ...]

Both arms are the task's own reference, as two candidates: nothing is built, and no process is faster for being wrong. The
zygote and the reference are there before the clock starts; the reference has drawn no values yet but one set a workload,
so what is measured is no less than with a bank that is full. All screens first, then finals while they fit.
"""

import json
import statistics
import time
from pathlib import Path
from typing import Any

import click

import tasks
from guard.duel import duel
from guard.duel_header import header_of
from guard.duel_record import ProcessRecord
from guard.session import Session
from guard.terms import TermsName, terms_for
from leaderboard.whole_file import write_whole
from pipeline.cpu_share import cpu_share
from scripts.arguments import command_line
from scripts.oracle_agreement import variants
from tasks.candidate import Candidate
from tasks.task import Task

_TASKS = (
    "L1/030_attention_output_projection_with_residual",
    "L1/069_rms_norm",
    "L1/040_conv2d_residual_block",
    "L2/031_flux_timestep_guidance_projection_embedding",
    "Quant/014_fp8_yarn_rope_embedding",
)
"""Sixteen workloads each, and no reference that takes 5 ms on an H200 (`docs/results/evaluate-all-h200.json`)."""
_PROTOCOLS: tuple[TermsName, ...] = ("screen", "final")
_FINAL_TO_SCREEN = 4.0
Row = dict[str, Any]


def measure(task: Task, name: TermsName, session: Session, left_s: float) -> Row | None:
    """Seconds of one comparison; None when `left_s` did not suffice for it."""
    terms = terms_for(name, session.device)
    one = variants(task)["eager"]
    header = header_of(task, one, _renamed(one), terms, session)
    records: list[ProcessRecord] = []
    began = time.monotonic()
    published = duel(task, one, _renamed(one), header, session, keep=records.append, max_seconds=left_s)
    took = time.monotonic() - began
    if len(records) < 2 * terms.processes and not published.rejected:
        return None
    slowest = max((latency.baseline_ms for latency in published.latencies), default=0.0)
    return {
        "task": task.name, "protocol": name, "seconds": round(took, 2), "workloads": len(task.workloads),
        "slowest_ms": slowest, "process_s": [record.seconds for record in records],
        "outcome": str(published.comparison.overall.outcome) if published.comparison else "",
        "rejected": [reason.message for _, reason in published.rejected],
        "environment": {**header.environment.model_dump(mode="json"), "isolation": records[0].isolation},
    }  # fmt: skip


def _renamed(candidate: Candidate) -> Candidate:
    solution = candidate.solution.model_copy(update={"name": "the-same-again"})
    return candidate.model_copy(update={"solution": solution})


def medians(rows: list[Row]) -> Row:
    """Of each protocol, over the tasks."""
    times = {name: [row["seconds"] for row in rows if row["protocol"] == name] for name in _PROTOCOLS}
    return {f"{name}_median_s": round(statistics.median(found), 2) for name, found in times.items() if found}


def _expected_s(rows: list[Row], task: str, protocol: str) -> float:
    """What a comparison will take at least, as far as the task's screen shows it."""
    screen = next((r["seconds"] for r in rows if (r["task"], r["protocol"]) == (task, "screen")), 0.0)
    return screen * (_FINAL_TO_SCREEN if protocol == "final" else 1.0)


@click.command(help=__doc__)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--max-seconds", default=540.0, show_default=True)
@click.option("--device", type=click.Choice(["cuda", "cpu"]), default="cuda", show_default=True)
@click.argument("names", nargs=-1)
def main(out: Path, max_seconds: float, device: Any, names: tuple[str, ...]) -> None:
    until = time.monotonic() + max_seconds
    before: list[Row] = json.loads(out.read_text())["rows"] if out.exists() else []
    rows = [
        row for row in before if not row["rejected"]
    ]  # a comparison that was cut short says nothing of its cost
    done = {(row["task"], row["protocol"]) for row in rows}
    asked = [tasks.load(name) for name in names or _TASKS]
    if device == "cpu":
        asked = [cpu_share(task) for task in asked]
    with Session(device) as session:
        session.zygote.wait()
        for protocol in _PROTOCOLS:
            for task in asked:
                left = until - time.monotonic()
                if (task.name, protocol) in done or left < _expected_s(rows, task.name, protocol):
                    continue
                row = measure(task, protocol, session, left)
                if row is None:
                    click.echo(f"{task.name}: no time for a {protocol}", err=True)
                    continue
                rows.append(row)
                record = {"command": command_line("scripts.guard_cost"), **medians(rows), "rows": rows}
                write_whole(out, json.dumps(record, indent=1))
                click.echo(f"{task.name}: {protocol} {row['seconds']} s {row['rejected'] or ''}", err=True)
    click.echo(json.dumps(medians(rows)), err=True)


if __name__ == "__main__":
    main()
