"""`kernelarc desk`: what was sent to the board, what came back, and what to send next."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import click

from pipeline.commands.options import data_option, emit, options, settings_from, table

ledger_option = click.option(
    "--ledger", type=click.Path(path_type=Path), default=Path(".kernelarc/desk.jsonl"), show_default=True,
    help="The file that is added to.",
)  # fmt: skip
at_option = click.option("--at", metavar="TIME", help="When, ISO 8601 with its offset. [default: now]")
folder_argument = click.argument("folder", type=click.Path(path_type=Path))


@click.group()
def desk() -> None:
    """Keep a ledger of what was uploaded and what came back, and plan the next upload within the quota.

    The web form is the board's way in, and you say here what you did; `upload` and `fetch` use an interface that
    is not documented, and only when told to by name.

    \b
    Examples:
      kernelarc desk plan submissions/ready/*/*/*
      kernelarc desk sent submissions/ready/L2/002_decoder/0123456789ab --mode private
      kernelarc desk result submissions/ready/L2/002_decoder/0123456789ab passed --score 0.61
      kernelarc desk import saved-results.html
      kernelarc desk drift --data ~/SOL-ExecBench
    """


@desk.command()
@options(ledger_option)
def show(ledger: Path, as_json: bool) -> None:
    """Show the ledger, newest last.

    \b
    Examples:
      kernelarc desk show --json | jq '.[] | select(.event == "result")'
    """
    from leaderboard.desk import lines, read_ledger

    found = read_ledger(ledger)
    rows = lines(found)
    content = [entry.model_dump(mode="json") for entry in found.entries]
    emit(as_json, content, table(rows) if content else "nothing was sent yet")


@desk.command()
@folder_argument
@options(
    click.option("--mode", type=click.Choice(["private", "release"]), required=True, help="As uploaded."),
    at_option,
    ledger_option,
    data_option,
)
def sent(
    folder: Path,
    mode: Literal["private", "release"],
    at: str | None,
    ledger: Path,
    as_json: bool,
    **given: Any,
) -> None:
    """Note that the solution.json in a submission's FOLDER was uploaded.

    \b
    Examples:
      kernelarc desk sent submissions/ready/L2/002_decoder/0123456789ab --mode release
    """
    from leaderboard.desk import Sent, add_entry
    from pipeline.desk import stated, uploaded

    digest, submission = uploaded(folder)
    entry = Sent(
        file_digest=digest,
        submission=submission.digest,
        task=submission.evidence.task.name,
        mode=mode,
        at=moment(at),
        stated=stated(settings_from(given), submission),
    )
    add_entry(ledger, entry)
    emit(as_json, entry.model_dump(mode="json"), f"sent: {entry.task} {digest[:12]} ({mode})")


@desk.command()
@folder_argument
@click.argument("status", type=click.Choice(["passed", "failed"]))
@options(
    click.option("--score", type=click.FloatRange(min=0), help="As the board shows it."),
    click.option("--latency-ms", type=click.FloatRange(min=0, min_open=True), help="As the board shows it."),
    click.option("--stack", default="", help="The evaluation stack's version, as the board shows it."),
    at_option,
    ledger_option,
)
def result(
    folder: Path,
    status: Literal["passed", "failed"],
    at: str | None,
    ledger: Path,
    as_json: bool,
    **figures: Any,
) -> None:
    """Note what came back for the submission in FOLDER.

    \b
    Examples:
      kernelarc desk result submissions/ready/L2/002_decoder/0123456789ab passed --score 0.61 --stack v1.1
    """
    from leaderboard.desk import Result, add_entry
    from pipeline.desk import uploaded

    digest, _ = uploaded(folder)
    entry = Result(file_digest=digest, status=status, at=moment(at), **figures)
    add_entry(ledger, entry)
    emit(as_json, entry.model_dump(mode="json"), f"{status}: {digest[:12]}")


@desk.command()
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...", type=click.Path(path_type=Path))
@options(at_option, ledger_option, data_option)
def plan(folders: tuple[Path, ...], at: str | None, ledger: Path, as_json: bool, **given: Any) -> None:
    """Order submissions by what they are expected to gain, with the portal's delay for each.

    The gain is known where the submission was measured on the board's kind of GPU and tables are published.

    \b
    Examples:
      kernelarc desk plan submissions/ready/*/*/* --data ~/SOL-ExecBench
    """
    from leaderboard.desk import read_ledger
    from leaderboard.desk_plan import plan as order
    from pipeline.desk import uploaded
    from pipeline.score import could_be_sent

    settings = settings_from(given)
    ready = [could_be_sent(settings, folder, uploaded(folder)[0]) for folder in folders]
    steps = order(read_ledger(ledger), ready, datetime.fromisoformat(moment(at)))
    rows = [("gain", "best", "result after", "task", "submission")]
    for step in steps:
        gain = "unknown" if step.gain is None else f"{step.gain:.4f}"
        wait = "a result comes back" if step.delay_minutes is None else f"{step.delay_minutes} min"
        rows.append((gain, f"{step.best:.4f}", wait, step.task, step.name))
    text = table(rows) if steps else "everything here was sent already"
    emit(as_json, [step.model_dump(mode="json") for step in steps], text)


def moment(at: str | None) -> str:
    from tasks.errors import TaskError

    if at is None:
        return datetime.now(UTC).isoformat(timespec="seconds")
    try:
        has_offset = datetime.fromisoformat(at).tzinfo is not None
    except ValueError:
        has_offset = False
    if not has_offset:
        raise TaskError(f"{at!r} is no moment", field="--at", mend="such as 2026-08-01T12:00:00+00:00")
    return at
