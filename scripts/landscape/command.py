"""The command line of `python -m scripts.landscape`."""

import os
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import click

import tasks
from agents.templates import EVERY_FAMILY
from guard.environment import Watch
from guard.timers import choose_timer
from pipeline.cpu_share import cpu_share
from scripts.arguments import command_line
from scripts.landscape import __doc__ as about
from scripts.landscape.bench_process import BenchProcess
from scripts.landscape.compiling import Compilers
from scripts.landscape.record import Record
from scripts.landscape.settings import Setting, settings_of
from tasks.errors import TaskError
from tasks.task import Task

_TARGETS = {"9.0": "sm_90a", "10.0": "sm_100a"}


@click.command(help=about)
@click.option("--family", type=click.Choice(sorted(EVERY_FAMILY)), required=True)
@click.option("--task", "name", required=True)
@click.option("--workloads", default="", help="Their places, parted by commas; all where nothing is said.")
@click.option("--most", default=500, show_default=True, help="Settings; more than that are sampled.")
@click.option("--only", default="", help="knob=value,...: settings with these values alone.")
@click.option("--seed", default=0, show_default=True)
@click.option("--max-seconds", type=float, default=500.0, show_default=True)
@click.option("--jobs", type=int, default=0, help="Compiler processes; one a core, but for one.")
@click.option("--device", type=click.Choice(["cpu", "cuda"]), default="cuda", show_default=True)
@click.option("--compile-only", is_flag=True, help="Time nothing: registers, spills and shared memory alone.")
@click.option("--target", default="", help="What is compiled for without a GPU: sm_90a or sm_100a.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), required=True)
def main(
    family: str, name: str, workloads: str, most: int, only: str, seed: int, max_seconds: float, jobs: int,
    device: Literal["cpu", "cuda"], compile_only: bool, target: str, out: Path,
) -> None:  # fmt: skip
    began = time.monotonic()
    try:
        task = _task(name, workloads, device, compile_only)
        settings = _settings(family, task, most, seed, only)
        record = Record(out, _header(family, task, device, compile_only))
    except TaskError as error:
        click.echo(f"landscape: {error}", err=True)
        sys.exit(2)
    click.echo(f"{len(settings)} settings on {len(task.workloads)} workloads", err=True)
    run = _Run(task, record, began + max_seconds, compile_only)
    run.go(
        settings,
        device,
        target or _target("cpu" if compile_only else device),
        jobs or max(1, (os.cpu_count() or 2) - 1),
    )
    click.echo(f"{run.timed} times and {run.failed} failures in {time.monotonic() - began:.0f} s", err=True)


def _task(name: str, places: str, device: str, compile_only: bool) -> Task:
    task = tasks.load(name)
    try:
        chosen = [int(place) for place in places.split(",") if place] or range(len(task.workloads))
        task = task.model_copy(update={"workloads": tuple(task.workloads[place] for place in chosen)})
    except (ValueError, IndexError):
        raise TaskError(
            f"{places!r} are not places of the {len(task.workloads)} workloads", field="--workloads",
            mend="say for example 0,2",
        ) from None  # fmt: skip
    return cpu_share(task) if device == "cpu" and not compile_only else task


def _settings(family: str, task: Task, most: int, seed: int, only: str) -> list[Setting]:
    kind = EVERY_FAMILY[family]
    match = kind.matches(task)
    if match is None:
        raise TaskError(f"is not of the family {family}", field="--task", mend="name another task or family")
    wanted = dict(pair.split("=", 1) for pair in only.split(",") if "=" in pair)
    every = settings_of(kind, match, task, sys.maxsize if wanted else most, seed)
    return [s for s in every if all(str(s.knobs.get(k)) == v for k, v in wanted.items())][:most]


def _header(family: str, task: Task, device: Literal["cpu", "cuda"], compile_only: bool) -> dict[str, Any]:
    with Watch("cpu" if compile_only else device) as watch:
        pass
    return {
        "family": family, "task": task.name, "task_digest": task.digest,
        "timer": None if compile_only else choose_timer(device, None),
        "environment": watch.environment("none", {}).model_dump(mode="json"),
        "began": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command_line("scripts.landscape"),
    }  # fmt: skip


def _target(device: str) -> str:
    if device == "cpu":
        return "sm_90a"
    from guard.environment import gpu_architecture

    return _TARGETS[gpu_architecture()]


class _Run:
    def __init__(self, task: Task, record: Record, until: float, compile_only: bool) -> None:
        self.task, self.record, self.until, self.compile_only = task, record, until, compile_only
        self.timed = self.failed = 0

    def go(self, settings: list[Setting], device: str, target: str, jobs: int) -> None:
        left = [
            s for s in settings if any((s.key, w.uuid) not in self.record.done for w in self.task.workloads)
        ]
        timer = "" if self.compile_only else choose_timer("cuda" if device == "cuda" else "cpu", None)
        with tempfile.TemporaryDirectory(prefix="landscape-") as spare:
            cache = Path(os.environ.get("TRITON_CACHE_DIR") or Path(spare) / "triton")
            compilers = Compilers(self.task, target, cache, jobs, build=not self.compile_only)
            try:
                with BenchProcess(self.task, device, timer, cache, Path(spare) / "timing.log") as bench:
                    for number, report in compilers.reports([s.candidate.solution for s in left]):
                        self._one(left[number], report, bench)
                        if time.monotonic() > self.until:
                            click.echo("stopped: the seconds are over; the same command goes on", err=True)
                            break
            finally:
                compilers.close()

    def _one(self, setting: Setting, report: dict[str, Any], bench: BenchProcess) -> None:
        extension = report.pop("extension", None)
        for workload, each in enumerate(self.task.workloads):
            if (setting.key, each.uuid) in self.record.done or time.monotonic() > self.until:
                continue
            found = (
                {}
                if "failure" in report or self.compile_only
                else bench.time(setting.candidate.solution, workload, extension)
            )
            line = {"knobs": setting.knobs, "uuid": each.uuid, "axes": dict(each.axes), **report, **found}
            self.record.add(line)
            self.timed, self.failed = self.timed + ("ms" in line), self.failed + ("failure" in line)
