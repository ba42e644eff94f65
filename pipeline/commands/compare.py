"""`kernelarc compare`."""

from pathlib import Path
from typing import Any, Literal

import click

from pipeline.commands.options import (
    data_option,
    device_option,
    emit,
    inputs_option,
    options,
    precision_option,
    settings_from,
    task_argument,
)


@click.command()
@task_argument
@click.argument("baseline")
@click.argument("candidate")
@options(
    click.option(
        "--protocol",
        type=click.Choice(["screen", "search", "final", "gate"]),
        default="search",
        show_default=True,
        help="Processes an arm: 2 (can only drop what is clearly slower), 8, 10, or looks at 8, 10 and 20.",
    ),
    click.option(
        "--max-seconds",
        type=click.FloatRange(min=0, min_open=True),
        metavar="S",
        help="Start no process that would end after that.",
    ),
    click.option(
        "--out", type=click.Path(path_type=Path), help="Append every process there; an old file goes on."
    ),
    click.option("--paired", is_flag=True, help="Declare processes pairs, for clocks that wander."),
    click.option(
        "--lock-clocks",
        "clocks",
        metavar="B200|H100|A100|SM/MEM",
        help="Lock the GPU's clocks, in MHz, and restore them.",
    ),
    data_option,
    device_option,
    precision_option,
    inputs_option,
)
def compare(
    task: str,
    baseline: str,
    candidate: str,
    protocol: Literal["screen", "search", "final", "gate"],
    max_seconds: float | None,
    out: Path | None,
    paired: bool,
    clocks: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Measure CANDIDATE against BASELINE on TASK; each is a solution file, or `reference`.

    Fresh processes of both run in turn, every call is checked, and looks are fixed beforehand. Exits with 0
    when the candidate passes (every workload faster or equivalent; for a screen: not clearly slower).

    \b
    Examples:
      kernelarc compare l1_rmsnorm reference mine.json
      kernelarc compare l2_decoder old.json new.json --protocol gate --out old-new.jsonl --max-seconds 900
    """
    from pipeline.compare import compare as measure
    from pipeline.progress import Lines
    from tasks.errors import TaskError

    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise TaskError("is no place for a file", file=out, field="--out", mend="check the path")
    found = measure(
        settings_from(given), task, (baseline, candidate), protocol, Lines(),
        out=out, max_seconds=max_seconds, paired=paired, clocks=clocks,
    )  # fmt: skip
    header = found.header
    head = (
        f"{header.candidate.name} against {header.baseline.name} on {header.environment.device}, "
        f"protocol {header.terms.name}, timer {header.timer}, clocks {header.clock_policy}"
    )
    emit(as_json, found.model_dump(mode="json"), "\n".join([head, *found.published.lines()]))
    return 0 if found.published.is_good else 1
