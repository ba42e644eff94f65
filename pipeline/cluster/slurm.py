"""Nodes as Slurm jobs, through submitit: each job is one node with one GPU, and ends with the scheduler."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pipeline.cluster.worker import run_node
from tasks.errors import TaskError


def launch(
    scheduler: str,
    nodes: int,
    folder: Path,
    *,
    device: Literal["auto", "cpu", "cuda"] = "auto",
    minutes: int = 60,
    engine: Literal["slurm", "local"] = "slurm",
    more: Mapping[str, Any] | None = None,
) -> list[Any]:
    """Submit `nodes` jobs that join the scheduler; their logs lie in `folder`. `engine` local runs them here.

    `more` are submitit's own parameters (`slurm_partition`, ...). `TaskError` without submitit or without Slurm.
    """
    try:
        import submitit
    except ImportError:
        raise TaskError(
            "needs submitit, which is not installed", mend="pip install 'kernelarc[cluster]'"
        ) from None
    try:
        executor = submitit.AutoExecutor(folder=folder, cluster=engine)
        gpus = 0 if device == "cpu" else 1
        executor.update_parameters(
            timeout_min=minutes, gpus_per_node=gpus, name="kernelarc-node", **(more or {})
        )
        with executor.batch():
            jobs = [executor.submit(run_node, scheduler, device) for _ in range(nodes)]
    except (RuntimeError, FileNotFoundError, NameError) as error:
        raise TaskError(
            f"no job could be submitted: {error}", field="--slurm", mend="run it where sbatch is"
        ) from error
    return jobs
