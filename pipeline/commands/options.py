"""Options that several commands take, and how a command says what it found."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from pipeline.settings import Settings

Command = TypeVar("Command", bound=Callable[..., Any])

task_argument = click.argument("task")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout, and nothing else.")
data_option = click.option(
    "--data", multiple=True, metavar="DIR", help="A data-set root; may be given several times."
)
device_option = click.option(
    "--device", type=click.Choice(["auto", "cpu", "cuda"]), help="Where to judge. [default: the GPU, if any]"
)
precision_option = click.option(
    "--precision",
    type=click.Choice(["strict", "reference", "tolerance"]),
    help="How much less exact than declared a candidate may be. [default: tolerance]",
)
inputs_option = click.option(
    "--inputs",
    type=click.Choice(["recorded", "auto", "synthetic"]),
    help="Recorded inputs, made-up ones, or made-up where recorded ones are missing. [default: auto]",
)
budget_option = click.option(
    "--budget", type=int, metavar="N", help="Candidates to judge. [default: 8 on a CPU, 60 on a GPU]"
)
agents_option = click.option("--agents", metavar="A,B", help="Which agents take part. [default: all]")
seed_option = click.option("--seed", type=int, metavar="S", help="Of the agents. [default: 0]")
target_option = click.option(
    "--target", type=click.Choice(["B200", "LOCAL"]), help="The hardware named in the file. [default: B200]"
)
memory_option = click.option(
    "--memory",
    metavar="RULE",
    help="Conclusions shown to agents: none, fifo[:N], top[:N], all. [default: fifo]",
)
workers_option = click.option(
    "--workers",
    type=int,
    metavar="N",
    help="Proposals made at a time, in processes of their own. [default: 0]",
)
policy_option = click.option(
    "--policy", type=click.Choice(["rounds", "controller"]), help="Who is asked next. [default: rounds]"
)
patience_option = click.option(
    "--patience", type=int, metavar="N", help="Stop after N candidates in a row that bring nothing."
)
model_options = (
    click.option("--model", metavar="NAME", help="A language model takes part; its key is OPENAI_API_KEY."),
    click.option("--base-url", metavar="URL", help="Of its endpoint. [default: the one of the library]"),
    click.option(
        "--model-command", metavar="CMD", help="A coding command takes part in place of an endpoint."
    ),
    click.option(
        "--price-in", type=float, metavar="D", help="Dollars for a million tokens read. [default: 0]"
    ),
    click.option("--price-out", type=float, metavar="D", help="And for a million written. [default: 0]"),
)
limits_options = (
    click.option("--max-seconds", type=float, metavar="S", help="Stop after so long a time of judging."),
    click.option("--max-gpu-seconds", type=float, metavar="S", help="Stop after so much time on the device."),
    click.option("--max-tokens", type=int, metavar="N", help="Stop after so many tokens written by models."),
    click.option("--max-dollars", type=float, metavar="D", help="Stop after so much money spent on models."),
)
cluster_option = click.option(
    "--cluster", metavar="WHERE", help="Judge on a Dask scheduler's nodes: tcp://host:8786, or local[:N]."
)
warm_option = click.option(
    "--warm-start", multiple=True, metavar="PATH", help="Landscapes or runs to predict first settings from."
)
runs_option = click.option("--runs", metavar="DIR", help="Where journals are kept. [default: runs]")


def kernelarc() -> str:
    """How the command is called from here: by its name where the shell finds it, else by its path."""
    import os
    import shutil
    import sys
    from pathlib import Path

    here = Path(sys.executable).with_name("kernelarc")
    if shutil.which("kernelarc"):
        return "kernelarc"
    return os.path.relpath(here) if here.exists() else "python3 -m pipeline"


def options(*some: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Several options as one decorator, shown in the order given; `--json` and `--debug` always come last."""
    debug = click.option(
        "--debug", is_flag=True, expose_value=False, help="Show where in the code a failure arose."
    )

    def decorate(command: Command) -> Command:
        for option in (debug, json_option, *reversed(some)):
            command = option(command)
        return command

    return decorate


def settings_from(given: Mapping[str, Any]) -> "Settings":
    """The settings, with what stood on this command's line on top."""
    from pipeline.settings import read_settings

    return read_settings({key: None if value == () else value for key, value in given.items()})


def emit(as_json: bool, content: Any, text: str) -> None:
    """The one thing a command writes on stdout."""
    click.echo(json.dumps(content, indent=1, ensure_ascii=False) if as_json else text)


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Left-aligned columns, two spaces apart."""
    if not rows:
        return ""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
