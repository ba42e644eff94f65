"""Do the public evaluator and our guard read the same times? Single kernels, fresh processes of both in turn.

    python -m scripts.oracle_times --evaluator CHECKOUT --commit C --out FILE [--max-seconds S] [TASK ...]

CHECKOUT is a copy of NVIDIA/SOL-ExecBench outside of this project. Every reading is one process's official median of a
workload. The evaluator's processes have imported torch before their turn, and do nothing else until it comes.
A task that FILE holds with all its processes is not read again.

Compared are medians over the processes, on workloads that launch one kernel, where neither side's processes differ by
half a percent (robust standard deviation): of those, 95 of 100 must agree within one percent.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

import tasks
from guard.judge import judge
from guard.protocol import SMOKE
from guard.session import Session
from guard.statistics.spread import robust_spread
from guard.verdict import Verdict
from leaderboard.whole_file import write_whole
from scripts.arguments import command_line
from scripts.oracle_agreement import candidate_of
from scripts.public_evaluator import DRIVER, figures_in, laid_out
from tasks.candidate import Candidate
from tasks.definition import AxisVar, Definition, DType, TensorSpec
from tasks.task import Task
from tasks.workload import RandomInput, Workload

QUIET, WITHIN, SHARE = 0.005, 0.01, 0.95
_NORM = """import torch


@torch.no_grad()
def run(rows, gain, eps):
    return torch.nn.functional.rms_norm(rows, (rows.shape[-1],), gain, eps)
"""
_SINGLE = {"l1_rmsnorm": _NORM, "streams": "", "l1_bf16_gemm": ""}
"""A solution of one kernel a call; where none is written here, the reference is taken."""
_WAITS = (
    "import runpy, sys, torch; print('ready', flush=True); sys.stdin.readline(); sys.path[0] = ''; "
    f"runpy.run_path('{DRIVER}', run_name='__main__')"
)
_LIMIT_S = 120
Row = dict[str, Any]


def streams() -> Task:
    """A task of our own: twice x, from 4 MiB to 768 MiB, which takes one kernel whatever the libraries' versions."""
    spec = TensorSpec(shape=("N",), dtype=DType.FLOAT32)
    definition = Definition(
        name="streams", axes={"N": AxisVar()}, inputs={"x": spec}, outputs={"y": spec},
        reference="import torch\n\n\n@torch.no_grad()\ndef run(x):\n    return x * 2\n",
    )  # fmt: skip
    sizes = [n << 20 for n in (1, 3, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192)]
    workloads = tuple(
        Workload(axes={"N": n}, uuid=f"streams-{n >> 20}m", inputs={"x": RandomInput()}) for n in sizes
    )
    return Task(name="streams", definition=definition, workloads=workloads)


def loaded(name: str, workloads: int) -> Task:
    """The task of that name, with its first workloads."""
    task = streams() if name == "streams" else tasks.load(name)
    return task.model_copy(update={"workloads": task.workloads[:workloads]})


class Waiting:
    """A process of the public evaluator, in a folder of its own, with torch imported and its turn to come."""

    def __init__(self, evaluator: Path, task: Task, candidate: Candidate, folder: Path) -> None:
        folder.mkdir()
        environment = laid_out(evaluator, task, candidate, folder)
        self._log = (folder / "log").open("w+")
        self._process = subprocess.Popen(
            [sys.executable, "-c", _WAITS], cwd=folder, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log,
        )  # fmt: skip

    def ready(self) -> None:
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def run(self) -> dict[str, Row]:
        """Its figures by workload; none of those that it did not come to."""
        try:
            said, _ = self._process.communicate("go\n", timeout=_LIMIT_S)
        except subprocess.TimeoutExpired:
            said = ""
        found = figures_in(said)
        if not found:
            self._log.seek(0)
            click.echo(f"no trace from the public evaluator: {self._log.read()[-600:]}", err=True)
        return found

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._log.close()


def single_kernel(verdict: Verdict, uuid: str) -> bool:
    """Whether in every timed call the device was busy from the first start to the last end."""
    own = [m for m in verdict.measurements if m.workload == uuid and m.kind == "official"]
    return bool(own) and all(
        m.busy_ms is not None and all(b == t for b, t in zip(m.busy_ms, m.times_ms, strict=True)) for m in own
    )


def row_of(task: Task, index: int, theirs: Sequence[dict[str, Row]], ours: Sequence[Verdict]) -> Row:
    """One workload: a reading a process of both sides, and what they come to."""
    uuid = task.workloads[index].uuid
    statuses = sorted({run[uuid]["status"] for run in theirs if uuid in run} | {v.status for v in ours})
    evaluator = [ms for run in theirs if (ms := run.get(uuid, {}).get("latency_ms"))]
    guard = [w.latency_ms for v in ours for w in v.workloads if w.uuid == uuid and w.latency_ms]
    found: Row = {
        "task": task.name, "workload": index, "axes": task.workloads[index].axes, "statuses": statuses,
        "evaluator_ms": evaluator, "guard_ms": guard, "single_kernel": all(single_kernel(v, uuid) for v in ours),
        "environment": ours[-1].environment.model_dump(mode="json"),
    }  # fmt: skip
    if len(evaluator) > 1 and len(guard) > 1:
        found["ratio"] = float(np.median(guard) / np.median(evaluator))
        found["spreads"] = [float(robust_spread(np.log(times))) for times in (evaluator, guard)]
    return found


def summary(rows: Sequence[Row], processes: int = 10) -> Row:
    """What is compared, and how much of it agrees; of all single kernels beside, noisy ones included."""
    single = [r for r in rows if r["single_kernel"] and "ratio" in r and len(r["guard_ms"]) >= processes]
    quiet = [r for r in single if max(r["spreads"]) < QUIET]
    within = {"single": single, "quiet": quiet}
    counts = {name: sum(abs(r["ratio"] - 1) <= WITHIN for r in found) for name, found in within.items()}
    return {
        "single_kernels": len(single), "single_within": counts["single"], "quiet": len(quiet),
        "quiet_within": counts["quiet"], "met": bool(quiet) and counts["quiet"] >= SHARE * len(quiet),
    }  # fmt: skip


def readings(
    evaluator: Path, session: Session, task: Task, processes: int, until: float, root: Path
) -> list[Row]:
    """Both sides in turn, the first of a pair alternating; what was read when time was up."""
    candidate = candidate_of(task, "single", _SINGLE.get(task.name) or task.definition.reference)
    waiting = [Waiting(evaluator, task, candidate, root / str(n)) for n in range(processes)]
    protocol = SMOKE.model_copy(update={"official_rounds": 1, "measured_calls": 2})
    theirs: list[dict[str, Row]] = []
    ours: list[Verdict] = []
    try:
        session.reference(task)
        for each in waiting:
            each.ready()
        for number, each in enumerate(waiting):
            began = time.monotonic()
            for side in ("theirs", "ours") if number % 2 == 0 else ("ours", "theirs"):
                if side == "theirs":
                    theirs.append(each.run())
                else:
                    ours.append(judge(task, candidate, protocol, session))
            if 2 * time.monotonic() - began > until:
                break
    finally:
        for each in waiting:
            each.end()
    return [row_of(task, index, theirs, ours) for index in range(len(task.workloads))]


@click.command(help=__doc__)
@click.option("--evaluator", type=click.Path(path_type=Path, exists=True), required=True)
@click.option("--commit", required=True, help="The evaluator's commit, which is recorded.")
@click.option("--processes", default=10, show_default=True)
@click.option("--max-seconds", default=300.0, show_default=True)
@click.option("--device", type=click.Choice(["cuda", "cpu"]), default="cuda", show_default=True)
@click.option("--workloads", default=16, show_default=True, help="Of each task, the first ones.")
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.argument("names", nargs=-1)
def main(
    evaluator: Path, commit: str, processes: int, max_seconds: float, device: Any, workloads: int, out: Path,
    names: tuple[str, ...],
) -> None:  # fmt: skip
    until = time.monotonic() + max_seconds
    before = json.loads(out.read_text())["rows"] if out.exists() else []
    rows = [r for r in before if len(r["guard_ms"]) >= processes and "rejected" not in r["statuses"]]
    done = {row["task"] for row in rows}
    with Session(device) as session, tempfile.TemporaryDirectory() as folder:
        for name in names or _SINGLE:
            if name in done:
                continue
            if time.monotonic() > until:
                click.echo(f"no time for {name}", err=True)
                break
            root = Path(folder) / name.replace("/", "-")
            root.mkdir()
            rows += readings(evaluator.resolve(), session, loaded(name, workloads), processes, until, root)
            record = {
                "command": command_line("scripts.oracle_times"), "evaluator": "NVIDIA/SOL-ExecBench",
                "commit": commit, **summary(rows, processes), "rows": rows,
            }  # fmt: skip
            write_whole(out, json.dumps(record, indent=1))
            click.echo(f"{name}: {json.dumps(summary(rows, processes))}", err=True)
    if not summary(rows, processes)["met"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
