"""`kernelarc doctor`."""

from typing import Any

import click

from pipeline.commands.options import data_option, emit, options, settings_from, table

_SIGN = {"has": "+", "lacks": "-", "warning": "!"}


@click.command()
@options(data_option)
def doctor(as_json: bool, **given: Any) -> None:
    """Say what this machine has and lacks, what each lack costs, and what brings it.

    \b
    Examples:
      kernelarc doctor
      kernelarc doctor --json | jq '.[] | select(.state == "lacks")'
    """
    from pipeline.doctor import examine

    findings = examine(settings_from(given))
    rows = [
        (_SIGN[f.state], f.name, f.found, f.cost and f"-> {f.cost}", f.brought_by and f"[{f.brought_by}]")
        for f in findings
    ]
    emit(as_json, [finding.model_dump(mode="json") for finding in findings], table(rows))
