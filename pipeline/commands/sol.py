"""`kernelarc sol`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.commands.options import data_option, emit, options, settings_from, table, task_argument

if TYPE_CHECKING:
    from tasks.speed_of_light import Bound


@click.command()
@task_argument
@options(
    click.option(
        "--hardware", default="B200", show_default=True, metavar="NAME|FILE", help="B200, H200, H100, A100 or a YAML file."
    ),
    click.option(
        "--pricing", type=click.Choice(["published", "physical"]), help="By the board's rules, or by physics. "
        "[default: published on the B200, physical elsewhere]",
    ),
    click.option(
        "--table", "table_file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
        help="Write the bounds as a table for `kernelarc score --t-sol FILE`, too.",
    ),
    data_option,
)  # fmt: skip
def sol(
    task: str, hardware: str, pricing: str | None, table_file: Path | None, as_json: bool, **given: Any
) -> None:
    """The speed of light of TASK: the least time each workload can take, and what binds it. Needs no GPU.

    `published` prices as the board's T_SOL are priced, wrong as some of those are; `physical` counts what no
    kernel can avoid, at the card's own peaks.

    \b
    Examples:
      kernelarc sol l2_decoder
      kernelarc sol L1/069_rms_norm --hardware H200 --json
      kernelarc sol l1_rmsnorm --hardware H200 --pricing physical --table runs/l1_rmsnorm-t_sol.json
    """
    from pipeline.sol import bounds_of, write_bounds

    settings = settings_from(given)
    found = bounds_of(settings, task, hardware, pricing)
    if table_file is not None:
        write_bounds(found, table_file)
    content = {
        "hardware": found.hardware,
        "pricing": found.pricing,
        "workloads": [
            {"uuid": b.uuid, "axes": b.axes, "t_sol_ms": b.t_sol_ms, "bound_by": b.bound_by}
            for b in found.bounds
        ],
    }
    heading = f"{found.task} on {found.hardware}, {found.pricing} pricing, ms"
    emit(as_json, content, "\n".join([heading, "", _rows(found.bounds), *_notes(found.bounds)]))


def _rows(bounds: "tuple[Bound, ...]") -> str:
    rows = [
        (
            bound.uuid,
            " ".join(f"{name}={size}" for name, size in bound.axes.items()),
            f"{bound.t_sol_ms:.6f}",
            bound.bound_by,
            " ".join(f"{name} {time:.6f}" for name, time in bound.resources_ms.items()),
        )
        for bound in bounds
    ]
    return table([("uuid", "axes", "t_sol_ms", "bound by", "of"), *rows])


def _notes(bounds: "tuple[Bound, ...]") -> list[str]:
    notes = dict.fromkeys(bound.note for bound in bounds if bound.note)
    return ["", *(f"Note: {note}." for note in notes)] if notes else []
