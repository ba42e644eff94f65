"""`kernelarc compare`, from the command line to the file and back."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from guard.campaign import read
from guard.rederive import rederive
from pipeline.cli import main

SCREEN = ("compare", "l1_swiglu", "reference", "reference", "--device", "cpu", "--protocol", "screen")


def run(*arguments: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, [str(a) for a in arguments])
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.slow
def test_a_comparison_is_stopped_gone_on_with_and_derived_again(tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    code, out, _ = run(*SCREEN, "--out", file, "--max-seconds", "0.001")
    assert code == 1 and "limit of seconds" in out
    begun = read(file).shards[0]
    code, out, err = run(*SCREEN, "--out", file, "--json")
    found = json.loads(out)
    assert code == (1 if found["published"]["screen"]["clearly_slower"] else 0)
    shard = read(file).shards[0]
    assert shard.header == begun.header and shard.processes[: len(begun.processes)] == begun.processes
    assert [p.place for p in shard.processes] == [0, 1, 2, 3]
    assert "shrunk" in err and found["header"]["marks"] == ["shrunk"]
    assert rederive(file).statements == 2 and rederive(file).unfounded == ()
    code, out, err = run(*SCREEN[:-1], "search", "--out", file)
    assert code == 2 and "protocols differ" in err and len(err.strip().splitlines()[-1]) < 300


def test_clocks_of_a_cpu_cannot_be_locked() -> None:
    code, _, err = run(*SCREEN, "--lock-clocks", "B200")
    assert code == 2 and "--lock-clocks" in err


def test_clocks_that_nobody_knows_are_refused_with_the_presets() -> None:
    code, _, err = run(*SCREEN, "--lock-clocks", "V100")
    assert code == 2 and "B200, H100, A100" in err


def test_a_solution_that_is_not_there_is_bad_input() -> None:
    code, _, err = run("compare", "l1_swiglu", "reference", "nowhere.json", "--device", "cpu")
    assert code == 2 and "nowhere.json" in err
