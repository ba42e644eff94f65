"""Judge the same solutions by the public evaluator and by our guard, and record what both said.

    python -m scripts.oracle_agreement --evaluator CHECKOUT --out FILE TASK [TASK ...]

CHECKOUT is a copy of NVIDIA/SOL-ExecBench outside of this project. Four solutions a task: the reference as it is,
the reference compiled, the reference with as many wrong elements as the official tolerance lets pass, and with
one more. Statuses and error figures must be equal; times are beside them to be looked at, for the public
evaluator's processes run several at once.
"""

import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click

import tasks
from guard.judge import judge
from guard.protocol import SMOKE
from guard.session import Session
from scripts.public_evaluator import DRIVER, figures_in, laid_out
from tasks.candidate import Candidate
from tasks.solution import BuildSpec, Hardware, Language, Solution, SourceFile
from tasks.task import Task

_LIMIT_S = 240
_COMPILED = """

import torch as _torch

_compiled = _torch.compile(run)


def run({names}):
    return _compiled({names})
"""
_WRONG = """

import torch as _torch

_right = run


def run({names}):
    result = _right({names})
    plain = isinstance(result, _torch.Tensor)
    first = result if plain else list(result.values() if isinstance(result, dict) else result)[0]
    wrong = first.numel() // 100 + {more}
    first.view(-1)[:wrong] = first.view(-1)[:wrong] + 10000
    return result
"""


def variants(task: Task) -> dict[str, Candidate]:
    """The four solutions, by name."""
    names, reference = ", ".join(task.definition.inputs), task.definition.reference
    sources = {
        "eager": reference,
        "compiled": reference + _COMPILED.format(names=names),
        "wrong-allowed": reference + _WRONG.format(names=names, more=0),
        "wrong-one-more": reference + _WRONG.format(names=names, more=1),
    }
    return {name: candidate_of(task, name, source) for name, source in sources.items()}


def candidate_of(task: Task, name: str, source: str) -> Candidate:
    """A solution of one file that returns what its `run` makes."""
    spec = BuildSpec(
        languages=(Language.PYTORCH,), target_hardware=(Hardware.LOCAL,), entry_point="main.py::run",
        destination_passing_style=False,
    )  # fmt: skip
    main = SourceFile(path="main.py", content=source)
    solution = Solution(
        name=name, definition=task.definition.name, author="kernelarc", spec=spec, sources=(main,)
    )
    return Candidate(solution=solution, definition_digest=task.definition.digest)


def theirs(evaluator: Path, task: Task, candidate: Candidate) -> dict[str, Any]:
    """The public evaluator's traces by workload uuid, and its seconds; a process of its own."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        environment = laid_out(evaluator, task, candidate, Path(name))
        try:
            done = subprocess.run(
                [sys.executable, DRIVER], cwd=name, env=environment, capture_output=True, text=True,
                timeout=_LIMIT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"seconds": _LIMIT_S, "error": "timeout", "traces": {}}
    traces = figures_in(done.stdout)
    return {
        "seconds": time.monotonic() - began, "error": "" if traces else done.stderr[-400:], "traces": traces
    }  # fmt: skip


def ours(session: Session, task: Task, candidate: Candidate) -> dict[str, Any]:
    """The same from the guard; one measured call a workload, since the official rounds are what is compared."""
    began = time.monotonic()
    verdict = judge(task, candidate, SMOKE.model_copy(update={"measured_calls": 1}), session)
    found = {
        w.uuid: {
            "status": w.status.value, "max_absolute_error": w.max_absolute_error,
            "max_relative_error": w.max_relative_error, "latency_ms": w.latency_ms, "timer": w.timer,
        }
        for w in verdict.workloads
    }  # fmt: skip
    reason = verdict.reason.model_dump(mode="json") if verdict.reason else None
    return {
        "seconds": time.monotonic() - began, "verdict": verdict.status, "reason": reason, "traces": found,
        "environment": verdict.environment.model_dump(mode="json"),
    }  # fmt: skip


def agree(a: dict[str, Any] | None, b: dict[str, Any]) -> bool:
    """Equal status and error figures; both sides compute in fp32, so equal means equal."""
    keys = ("status", "max_absolute_error", "max_relative_error")
    return a is not None and all(a[key] == b[key] for key in keys)


def compare_task(
    evaluator: Path, session: Session, name: str, workloads: int, pool: ThreadPoolExecutor
) -> list[dict[str, Any]]:
    """Both answers for each of the four solutions on the first `workloads` workloads."""
    task = tasks.load(name)
    task = task.model_copy(update={"workloads": task.workloads[:workloads]})
    made = variants(task)
    running = {kind: pool.submit(theirs, evaluator, task, candidate) for kind, candidate in made.items()}
    own = {kind: ours(session, task, candidate) for kind, candidate in made.items()}
    rows = []
    for kind, future in running.items():
        other, mine = future.result(), own[kind]
        for index, workload in enumerate(task.workloads):
            a, b = other["traces"].get(workload.uuid), mine["traces"][workload.uuid]
            rows.append(
                {"task": name, "workload": index, "solution": kind, "evaluator": a, "guard": b, "agree": agree(a, b),
                 "verdict": mine["verdict"], "reason": mine["reason"], "evaluator_error": other["error"]}
            )  # fmt: skip
    seconds = {
        kind: [round(running[kind].result()["seconds"], 1), round(own[kind]["seconds"], 1)] for kind in made
    }
    click.echo(
        f"{name}: {sum(r['agree'] for r in rows)} of {len(rows)} agree; seconds (theirs, ours) {seconds}",
        err=True,
    )
    return [
        {**row, "environment": own["eager"]["environment"]} if k == 0 else row for k, row in enumerate(rows)
    ]


@click.command(help=__doc__)
@click.option("--evaluator", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--commit", required=True, help="The evaluator's commit, which is recorded.")
@click.option("--workloads", default=2, show_default=True)
@click.option("--parallel", default=4, show_default=True)
@click.option("--max-seconds", default=480.0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.argument("names", nargs=-1, required=True)
def main(
    evaluator: Path,
    commit: str,
    workloads: int,
    parallel: int,
    max_seconds: float,
    out: Path,
    names: tuple[str, ...],
) -> None:
    evaluator = evaluator.resolve()  # its processes run elsewhere
    began, rows = time.monotonic(), list[dict[str, Any]]()
    command = f"python -m scripts.oracle_agreement --workloads {workloads} " + " ".join(names)
    with ThreadPoolExecutor(parallel) as pool, Session("cuda") as session:
        for name in names:
            if time.monotonic() - began > max_seconds:
                click.echo(f"stopped before {name}: {max_seconds:.0f} s are over", err=True)
                break
            rows += compare_task(evaluator, session, name, workloads, pool)
            record = {"command": command, "evaluator": "NVIDIA/SOL-ExecBench", "commit": commit, "version": "1.0.2",
                      "seconds": round(time.monotonic() - began, 1), "rows": rows}  # fmt: skip
            out.write_text(json.dumps(record, indent=1))
    click.echo(f"{sum(r['agree'] for r in rows)} of {len(rows)} agree", err=True)
    if not all(row["agree"] for row in rows):
        sys.exit(1)


if __name__ == "__main__":
    main()
