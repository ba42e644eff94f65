"""Where the time of a family's kernels goes: each kernel of a candidate apart, for the settings tried first.

`python -m scripts.kernel_times --family moe_backward --task l2_moe_backward --workloads 0,5 --out FILE.jsonl`

One process, one set of inputs, the L2 cache not flushed: figures that say where to look, never to be quoted.
"""

import json
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from agents.templates import FAMILIES
from tasks.loading import load
from tasks.solution import Hardware
from tasks.task import Task
from tasks.workload import Workload


@click.command()
@click.option("--family", required=True)
@click.option("--task", "name", required=True)
@click.option("--workloads", default="0", help="places, with commas between them")
@click.option("--settings", default=3, help="how many of the settings that are tried first")
@click.option("--max-seconds", default=120.0)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def main(family: str, name: str, workloads: str, settings: int, max_seconds: float, out: Path) -> None:
    """Print and write the microseconds of each kernel a call."""
    task, end = load(name), time.monotonic() + max_seconds
    match = FAMILIES[family].matches(task)
    if match is None:
        sys.exit(f"{family} does not recognise {name}")
    for place in map(int, workloads.split(",")):
        workload = task.workloads[place]
        inputs = drawn(task, workload)
        for knobs in FAMILIES[family].knobs(match).start[:settings]:
            if time.monotonic() > end:
                return
            proposal = FAMILIES[family].render(match, knobs)
            candidate = proposal.candidate(task, "template", Hardware.LOCAL)
            with TemporaryDirectory() as folder:
                kernels = timed(task, workload, candidate, inputs, Path(folder))
            row = {"axes": workload.axes, "knobs": dict(knobs), "kernels": kernels}
            print(json.dumps(row), flush=True)
            with out.open("a") as file:
                file.write(json.dumps(row) + "\n")


def drawn(task: Task, workload: Workload) -> list[Any]:
    """The definition's own inputs, on the GPU."""
    import torch

    from tasks.inputs import InputGenerator, load_reference

    reference = load_reference(task.definition)
    device = torch.device("cuda")
    made = InputGenerator(task.definition, workload, device, task.blob_roots, reference=reference)
    return list(made.make(seed=0))


def timed(
    task: Task, workload: Workload, candidate: Any, inputs: list[Any], folder: Path
) -> dict[str, float]:
    """Microseconds of each kernel, the mean of ten calls; the sources stand in `folder` while they run."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    from guard.cross_compile.candidate_code import blank_outputs, import_entry, lay_out

    lay_out(candidate.solution, folder)
    run = import_entry(candidate.solution, folder, f"candidate_{candidate.digest[:8]}")
    outputs = blank_outputs(task.definition, workload, "cuda")
    for _ in range(3):
        run(*inputs, *outputs)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        for _ in range(10):
            run(*inputs, *outputs)
        torch.cuda.synchronize()
    return {event.key: round(event.device_time_total / 10, 2) for event in profiled.key_averages()}


if __name__ == "__main__":
    main()
