"""`kernelarc sol`: a task's bounds on a card, and the table of them that a score can use."""

from datetime import UTC, datetime
from pathlib import Path

from leaderboard.tables import Provenance, TimeTable, write_table
from pipeline.settings import Settings
from tasks.errors import TaskError
from tasks.gpu import load_gpu
from tasks.speed_of_light import Bound, Pricing, speed_of_light
from tasks.value import Value


class Bounds(Value):
    task: str
    task_digest: str
    hardware: str
    pricing: Pricing
    bounds: tuple[Bound, ...]


def bounds_of(settings: Settings, task: str, hardware: str, pricing: str | None) -> Bounds:
    """The bounds of every workload of `task` on the card or in the YAML file that `hardware` names."""
    import tasks

    gpu = load_gpu(hardware)
    chosen: Pricing = (
        "published" if pricing == "published" or (pricing is None and gpu.name == "B200") else "physical"
    )
    found = tasks.load(task, data_roots=settings.data)
    return Bounds(
        task=found.name,
        task_digest=found.digest,
        hardware=gpu.name,
        pricing=chosen,
        bounds=speed_of_light(found, gpu, chosen),
    )


def table_of(found: Bounds) -> TimeTable:
    """The bounds as a table of T_SOL; its source says the pricing, its revision what was counted."""
    command = f"kernelarc sol {found.task} --hardware {found.hardware} --pricing {found.pricing}"
    return TimeTable(
        quantity="t_sol",
        provenance=Provenance(
            source=command,
            retrieved=datetime.now(UTC).date(),
            revision=f"{found.pricing}-{found.task_digest[:12]}",
            hardware=found.hardware,
            measured_by="ours",
        ),
        times_ms={found.task: {bound.uuid: bound.t_sol_ms for bound in found.bounds}},
    )


def write_bounds(found: Bounds, path: Path) -> None:
    """Write `table_of` the bounds; `TaskError` when `path` cannot be written."""
    try:
        write_table(table_of(found), path)
    except OSError as error:
        raise TaskError(f"cannot be written ({error})", file=path, mend="give a path that can be") from error
