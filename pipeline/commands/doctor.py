"""`kernelarc doctor`."""

from typing import Any

import click

from pipeline.commands.options import data_option, emit, options, settings_from

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
    from tasks.catalogue import data_roots_or_default

    settings = settings_from(given)
    if settings.data:
        data_roots_or_default(settings.data)  # what was named and is not there is no lack of this machine
    findings = examine(settings)
    width = max(len(finding.name) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{_SIGN[finding.state]} {finding.name.ljust(width)}  {finding.found}")
        if finding.cost:
            lines.append(f"  {' ' * width}  {finding.cost}")
        if finding.brought_by:
            lines.append(f"  {' ' * width}  brought by: {finding.brought_by}")
    emit(as_json, [finding.model_dump(mode="json") for finding in findings], "\n".join(lines))
