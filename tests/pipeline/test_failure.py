"""Every failure is one sentence on stderr and one exit code."""

import errno
import json

import click
import pytest
from click.testing import CliRunner
from sqlalchemy import create_engine, text
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import StaticPool

from guard.errors import GuardBroken
from pipeline.failure import Interrupted, Program, sentence_and_code
from tasks.errors import TaskError

FULL = OSError(errno.ENOSPC, "No space left on device", "/some/file")


def program(error: BaseException | None, code: int | None = None) -> Program:
    group = Program("kernelarc")

    @group.command()
    @click.option("--json", is_flag=True)
    @click.option("--debug", is_flag=True)
    def work(json: bool, debug: bool) -> int | None:
        if error is not None:
            raise error
        return code

    return group


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (
            TaskError("is empty", file="a.json", field="axes", mend="add one"),
            2,
            "a.json `axes`: is empty; add one",
        ),
        (GuardBroken("the driver hangs"), 3, "no judgement was possible: the driver hangs"),
        (FULL, 3, "the disk is full"),
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "x.json"), 2, "x.json: no such file"),
        (PermissionError(errno.EACCES, "Permission denied", "x.json"), 2, "x.json: permission denied"),
        (OSError(errno.EIO, "Input/output error", "x.json"), 3, "x.json: input/output error"),
        (MemoryError(), 3, "too little memory"),
        (KeyboardInterrupt(), 130, "stopped"),
        (Interrupted("kernelarc resume runs/x"), 130, "`kernelarc resume runs/x` goes on from here"),
        (ZeroDivisionError("division by zero"), 3, "kernelarc itself failed (ZeroDivisionError"),
    ],
)
def test_a_failure_is_one_sentence_and_its_code(error, code, says):
    result = CliRunner().invoke(program(error), ["work"])
    assert result.exit_code == code
    assert says in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert result.stdout == ""


def test_under_json_stdout_says_the_failure_too():
    result = CliRunner().invoke(program(GuardBroken("no device")), ["work", "--json"])
    assert json.loads(result.stdout) == {"error": "no judgement was possible: no device", "code": 3}


def test_a_traceback_is_shown_only_when_asked_for():
    assert "Traceback" not in CliRunner().invoke(program(GuardBroken("x")), ["work"]).stderr
    assert "Traceback" in CliRunner().invoke(program(GuardBroken("x")), ["work", "--debug"]).stderr


@pytest.mark.parametrize(("code", "left"), [(None, 0), (0, 0), (1, 1)])
def test_a_command_leaves_with_the_code_it_returns(code, left):
    assert CliRunner().invoke(program(None, code), ["work"]).exit_code == left


@pytest.mark.parametrize("line", [["wrok"], ["work", "--jsno"], ["work", "more"]])
def test_a_command_line_that_makes_no_sense_is_bad_input(line):
    result = CliRunner().invoke(program(None), line)
    assert (result.exit_code, result.stdout) == (2, "")


def test_help_is_no_failure():
    assert CliRunner().invoke(program(None), ["--help"]).exit_code == 0


def test_a_disk_that_sqlite_finds_full_is_the_machines_fault():
    """A real database that may not grow, asked directly and through SQLAlchemy; a real fault of SQL is no disk's."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    with engine.connect() as connection:
        connection.execute(text("CREATE TABLE t (x)"))
        connection.execute(text("PRAGMA max_page_count = 4"))
        with pytest.raises(DatabaseError) as full:
            connection.execute(text("INSERT INTO t VALUES (zeroblob(100000))"))
        with pytest.raises(DatabaseError) as wrong:
            connection.execute(text("SELECT y FROM nowhere"))
    for error in (full.value, full.value.orig):
        sentence, code = sentence_and_code(error)
        assert code == 3 and sentence.startswith("the disk is full")
    assert "kernelarc itself failed" in sentence_and_code(wrong.value)[0]
