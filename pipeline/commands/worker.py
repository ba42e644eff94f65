"""`kernelarc worker`."""

from pathlib import Path
from typing import Literal

import click

from pipeline.commands.options import device_option, emit, options


@click.command()
@click.argument("scheduler")
@options(
    device_option,
    click.option("--slurm", "nodes", type=click.IntRange(min=1), metavar="N", help="Submit N such nodes to Slurm."),
    click.option("--minutes", type=click.IntRange(min=1), default=60, show_default=True, help="Of a Slurm job."),
    click.option("--partition", metavar="NAME", help="Slurm's."),
    click.option(
        "--logs", type=click.Path(path_type=Path), default=Path(".kernelarc/slurm"), show_default=True,
        help="Where Slurm jobs write.",
    ),
)  # fmt: skip
def worker(
    scheduler: str,
    device: Literal["auto", "cpu", "cuda"] | None,
    nodes: int | None,
    minutes: int,
    partition: str | None,
    logs: Path,
    as_json: bool,
) -> None:
    """Offer this machine's device to the Dask SCHEDULER until it ends: one candidate at a time.

    Start the scheduler with `dask scheduler`, in a private network: whoever reaches it can run code here.

    \b
    Examples:
      kernelarc worker tcp://head:8786
      kernelarc worker tcp://head:8786 --slurm 8 --partition gpu --minutes 120
    """
    from pipeline.cluster.lane import expect_address

    scheduler = scheduler if "://" in scheduler else f"tcp://{scheduler}"
    expect_address(scheduler, field="SCHEDULER", mend="")
    if nodes is None:
        from pipeline.cluster.worker import run_node

        name = run_node(scheduler, device or "auto")
        emit(as_json, {"device": name}, f"the scheduler ended; {name} is free")
        return
    from pipeline.cluster.slurm import launch

    more = {"slurm_partition": partition} if partition else {}
    jobs = launch(scheduler, nodes, logs, device=device or "auto", minutes=minutes, more=more)
    names = [str(job.job_id) for job in jobs]
    emit(as_json, {"jobs": names}, f"submitted: {', '.join(names)}")
