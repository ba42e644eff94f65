"""The one place where a failure becomes one sentence and an exit code."""

import contextlib
import errno
import json
import signal
import sys
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import Any, NoReturn

import click

from guard.errors import GuardBroken
from tasks.errors import TaskError

GOOD, NOT_GOOD, BAD_INPUT, BROKEN, INTERRUPTED = 0, 1, 2, 3, 130

_INPUT_ERRORS = (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError, FileExistsError)
_PLACES = (errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP)
"""What a path can be at fault for beside those: a disk that is only read, a name too long, a loop of links."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Interrupted(Exception):
    """A person stopped the work; `again` is the command that takes it up where it was left."""

    def __init__(self, again: str) -> None:
        super().__init__(again)
        self.again = again


def sentence_and_code(error: BaseException) -> tuple[str, int]:
    """What a person is told, and what the shell is told."""
    if isinstance(error, TaskError):
        return str(error), BAD_INPUT
    if isinstance(error, GuardBroken):
        return f"no judgement was possible: {error}", BROKEN
    if isinstance(error, Interrupted):
        return f"stopped; `{error.again}` goes on from here", INTERRUPTED
    if isinstance(error, click.ClickException):
        return _of_the_command_line(error), BAD_INPUT
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return "stopped", INTERRUPTED
    return _of_the_machine(error)


def _of_the_machine(error: BaseException) -> tuple[str, int]:
    if isinstance(error, OSError):
        return _of_the_system(error)
    if _is_a_disk_of_sqlite(error):
        said = "the disk is full or fails: what was judged is kept; free some space and resume the run"
        return said, BROKEN
    if isinstance(error, MemoryError):
        return "this machine has too little memory for that", BROKEN
    return f"kernelarc itself failed ({type(error).__name__}: {error}); --debug shows where", BROKEN


def _is_a_disk_of_sqlite(error: BaseException) -> bool:
    """SQLite's own words for it, whether or not SQLAlchemy has wrapped them; told without importing either."""
    name = getattr(getattr(error, "orig", error), "sqlite_errorname", None) or ""
    return name.startswith(("SQLITE_FULL", "SQLITE_IOERR"))


def _of_the_command_line(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    sentence = error.format_message().rstrip(".")
    return f"{sentence}; see {context.command_path} --help" if context else sentence


def _of_the_system(error: OSError) -> tuple[str, int]:
    if error.errno in _FULL:
        return "the disk is full: nothing half-written was kept; free some space and run it again", BROKEN
    where = f"{error.filename}: " if error.filename else ""
    sentence = f"{where}{(error.strerror or str(error)).lower()}"
    if isinstance(error, _INPUT_ERRORS) or error.errno in _PLACES:
        return f"{sentence}; check the path", BAD_INPUT
    return sentence, BROKEN


def _stopped(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


class Program(click.Group):
    """The command line, with every failure said once on stderr; under `--json` stdout says it too."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **more: Any) -> NoReturn:
        arguments = list(sys.argv[1:] if args is None else args)
        more["standalone_mode"] = False
        # being told to end is being stopped: what was started is ended too, and the way on is said
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGTERM, _stopped)
        try:
            code = super().main(arguments, *rest, **more)
        # the last frame there is: whatever comes this far must leave as a sentence and a code
        except BaseException as error:
            if isinstance(error, SystemExit):
                raise
            if isinstance(error, click.exceptions.NoArgsIsHelpError):
                click.echo(error.format_message(), err=True)
                sys.exit(BAD_INPUT)
            sys.exit(_told(error, arguments))
        sys.exit(code if isinstance(code, int) else GOOD)


def _told(error: BaseException, arguments: Sequence[str]) -> int:
    if "--debug" in arguments:
        traceback.print_exception(error)
    sentence, code = sentence_and_code(error)
    sentence = " ".join(sentence.split())
    click.echo(f"kernelarc: {sentence}", err=True)
    if "--json" in arguments:
        click.echo(json.dumps({"error": sentence, "code": code}))
    return code
