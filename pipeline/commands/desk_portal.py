"""The desk's dealings with the portal: results that were saved, drift alarms, and the interface behind an opt-in."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from pipeline.commands.desk import at_option, desk, folder_argument, ledger_option, moment
from pipeline.commands.options import data_option, emit, options, settings_from

if TYPE_CHECKING:
    from leaderboard.desk import Result
    from leaderboard.portal import Portal

__all__ = ["desk"]
"""The group, with the commands of this file on it."""

url_option = click.option("--url", required=True, metavar="URL", help="The portal's address.")
opt_in_option = click.option(
    "--use-undocumented-http", "opted_in", is_flag=True, help="Say that you know what the warning says."
)


@desk.command("import")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=click.Path(path_type=Path))
@options(at_option, ledger_option)
def import_(files: tuple[Path, ...], at: str | None, ledger: Path, as_json: bool) -> int:
    """Take results out of the portal's JSON, or of a result page that you saved, into the ledger.

    A result that could belong to several uploads, or is not finished, is named and left out; exit 1 then.

    \b
    Examples:
      kernelarc desk import results.json
      kernelarc desk import ~/Downloads/my-submissions.html
    """
    from leaderboard.desk import read_ledger
    from leaderboard.portal_results import import_results

    taken: list[Result] = []
    left: list[str] = []
    for file in files:
        found = import_results(file, read_ledger(ledger), moment(at))
        taken += found.results
        left += found.not_taken
        _add(ledger, found.results)
    return _say(taken, left, as_json)


@desk.command()
@options(ledger_option, data_option)
def drift(ledger: Path, as_json: bool, **given: Any) -> int:
    """Name what has changed since each task's newest upload: evaluator, data, T_SOL, the board's stack.

    Exit 1 when anything has.

    \b
    Examples:
      kernelarc desk drift --data ~/SOL-ExecBench
    """
    from leaderboard.desk import read_ledger
    from leaderboard.drift import alarms
    from pipeline.desk import stated_now

    settings = settings_from(given)
    found_ledger = read_ledger(ledger)
    now = {task: stated_now(settings, task) for task in {sent.task for sent in found_ledger.sent}}
    found = alarms(found_ledger, now)
    text = "\n".join(map(str, found)) if found else f"nothing changed for {len(now)} tasks"
    emit(as_json, [alarm.model_dump(mode="json") for alarm in found], text)
    return 1 if found else 0


@desk.command()
@folder_argument
@options(
    click.option("--kernel-id", required=True, metavar="ID", help="The portal's number of the problem."),
    click.option("--mode", type=click.Choice(["private", "release"]), required=True, help="Who sees it."),
    url_option, opt_in_option, ledger_option, data_option,
)  # fmt: skip
def upload(
    folder: Path,
    kernel_id: str,
    mode: Literal["private", "release"],
    url: str,
    opted_in: bool,
    ledger: Path,
    as_json: bool,
    **given: Any,
) -> None:
    """Upload FOLDER's solution.json over the portal's undocumented interface, and note it as sent.

    Off unless --use-undocumented-http is given. The token is read from $KERNELARC_PORTAL_TOKEN alone. Only a
    ready submission is sent, and none twice.

    \b
    Examples:
      kernelarc desk upload submissions/ready/L2/002_decoder/0123456789ab --kernel-id 27 --mode private \\
        --url https://portal.example --use-undocumented-http
    """
    from leaderboard.desk import Sent, add_entry, read_ledger
    from pipeline.desk import stated, uploaded
    from tasks.errors import TaskError
    from tasks.solution_file import SOLUTION

    portal = _portal(url, opted_in)
    digest, submission = uploaded(folder)
    if submission.readiness != "ready":
        raise TaskError("is a draft", file=folder, mend="only a ready submission is uploaded")
    if any(sent.file_digest == digest for sent in read_ledger(ledger).sent):
        raise TaskError("was sent already", file=folder, mend="see `kernelarc desk show`")
    number = portal.upload(folder / SOLUTION, kernel_id, submission.evidence.target, mode)
    entry = Sent(
        file_digest=digest, submission=submission.digest, task=submission.evidence.task.name, mode=mode,
        at=moment(None), portal_id=number, stated=stated(settings_from(given), submission),
    )  # fmt: skip
    add_entry(ledger, entry)
    emit(
        as_json, entry.model_dump(mode="json"), f"sent: {entry.task} {digest[:12]} ({mode}), number {number}"
    )


@desk.command()
@options(url_option, opt_in_option, ledger_option)
def fetch(url: str, opted_in: bool, ledger: Path, as_json: bool) -> int:
    """Ask the portal's undocumented interface once for each upload that it numbered and has not answered.

    \b
    Examples:
      kernelarc desk fetch --url https://portal.example --use-undocumented-http
    """
    from leaderboard.desk import Result, read_ledger
    from leaderboard.portal_results import result_of

    portal = _portal(url, opted_in)
    taken: list[Result] = []
    left: list[str] = []
    for sent in read_ledger(ledger).in_flight:
        if sent.portal_id:
            found = result_of(portal.result(sent.portal_id), read_ledger(ledger), moment(None))
            (taken if isinstance(found, Result) else left).append(found)  # type: ignore[arg-type]
            _add(ledger, [found] if isinstance(found, Result) else [])
    return _say(taken, left, as_json)


def _portal(url: str, opted_in: bool) -> "Portal":
    """`TaskError` without the opt-in; the warning is printed each time."""
    from leaderboard.portal import TOKEN_VARIABLE, WARNING, Portal
    from tasks.errors import TaskError

    if not opted_in:
        raise TaskError(
            "is off: the portal does not document this interface",
            field="--use-undocumented-http",
            mend="use the web form and `kernelarc desk sent`, or give the option",
        )
    click.echo(WARNING, err=True)
    return Portal(url, os.environ.get(TOKEN_VARIABLE, ""))


def _add(ledger: Path, results: "Sequence[Result]") -> None:
    from leaderboard.desk import add_entry

    for result in results:
        add_entry(ledger, result)


def _say(taken: "Sequence[Result]", left: Sequence[str], as_json: bool) -> int:
    lines = [
        f"{r.status}: {r.file_digest[:12]}" + (f" score {r.score:g}" if r.score is not None else "")
        for r in taken
    ]
    lines += [f"left out: {line}" for line in left]
    content = {"taken": [r.model_dump(mode="json") for r in taken], "left_out": list(left)}
    emit(as_json, content, "\n".join(lines) or "nothing waits for an answer")
    return 1 if left else 0
