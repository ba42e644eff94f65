"""`kernelarc replay`."""

from pathlib import Path

import click

from pipeline.commands.options import emit, options


@click.command()
@click.argument("run", type=click.Path(path_type=Path))
@options()
def replay(run: Path, as_json: bool) -> int:
    """Play the search in the folder RUN again over its recorded verdicts, and compare every event.

    Nothing is judged, no device is needed and the folder stays as it is. Exit code 1 when an event differs: an
    agent is not deterministic, or was changed since.

    \b
    Examples:
      kernelarc replay runs/l2_decoder-20261130-203100
    """
    from pipeline.replayed import replayed

    found = replayed(run)
    content = {"run": str(run), **found.model_dump(mode="json")}
    emit(as_json, content, found.sentence)
    return 0 if found.same else 1
