"""`kernelarc evaluate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.commands.options import (
    data_option,
    device_option,
    emit,
    inputs_option,
    options,
    precision_option,
    settings_from,
    table,
    task_argument,
)  # fmt: skip

if TYPE_CHECKING:
    from guard.verdict import Verdict, WorkloadVerdict


@click.command()
@task_argument
@options(
    click.option(
        "--solution",
        type=click.Path(path_type=Path),
        help="An official solution file. [default: the reference]",
    ),
    data_option,
    device_option,
    click.option(
        "--protocol",
        type=click.Choice(["smoke", "search", "final"]),
        help="How many fresh processes: 1, 2 or 10. [default: search]",
    ),
    precision_option,
    inputs_option,
    click.option("--traces", type=click.Path(path_type=Path), help="Write official traces there."),
)
def evaluate(task: str, solution: Path | None, traces: Path | None, as_json: bool, **given: Any) -> int:
    """Judge one solution on every workload of TASK.

    On a CPU the workloads are shrunk to fit, and times say nothing about a GPU.

    \b
    Examples:
      kernelarc evaluate l1_rmsnorm --solution mine.json
      kernelarc evaluate l2_decoder --device cpu --json
      kernelarc evaluate L1/048_fused_gate_up_projection_with_swiglu --solution s.json --protocol final
    """
    from pipeline.evaluate import evaluate as judge_it
    from pipeline.evaluate import write_traces
    from pipeline.progress import Lines
    from tasks.errors import TaskError

    if traces is not None and (traces.is_dir() or not traces.parent.is_dir()):
        raise TaskError("is no place for a file", file=traces, field="--traces", mend="check the path")
    evaluation = judge_it(settings_from(given), task, solution, Lines())
    if traces is not None:
        write_traces(evaluation, traces)
    emit(as_json, evaluation.summary, _text(evaluation.verdict))
    return 0 if evaluation.verdict.status == "accepted" else 1


def _text(verdict: "Verdict") -> str:
    head = ("workload", "axes", "official", "max abs", "max rel", "ms", "timer")
    rows = [
        (
            w.uuid[:12],
            " ".join(f"{name}={size}" for name, size in w.axes.items()),
            str(w.status),
            _figure(w.max_absolute_error),
            _figure(w.max_relative_error),
            _times(w),
            w.timer or "-",
        )
        for w in verdict.workloads
    ]
    said = f"{verdict.status} on {verdict.environment.device}, protocol {verdict.protocol}"
    if verdict.reason is not None:
        where = f" (workload {verdict.reason.workload})" if verdict.reason.workload else ""
        said += f"\n{verdict.reason.code}: {verdict.reason.message}{where}"
    from guard.verdict import FLAGS

    if verdict.reason is not None and "shrunk" in verdict.marks:
        said += (
            "\nIt was judged at sizes scaled down for a CPU: one made for the real sizes may fail only here."
        )
    remarks = [
        *(f"flag {flag}: {FLAGS.get(flag, '')}" for flag in verdict.flags),
        *(f"advice: {line}" for line in verdict.advice),
    ]
    return "\n".join([table([head, *rows]), said, *remarks])


def _times(judged: "WorkloadVerdict") -> str:
    """The official time, and beside it how long the device was busy, with what is remarkable about the two."""
    busy = [] if judged.busy_ms is None else [f"busy {_figure(judged.busy_ms)}"]
    beside = ", ".join([*busy, *judged.flags])
    return f"{_figure(judged.latency_ms)} ({beside})" if beside else _figure(judged.latency_ms)


def _figure(number: float | None) -> str:
    return "-" if number is None else f"{number:.4g}"
