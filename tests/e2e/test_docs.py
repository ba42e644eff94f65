"""What the documents tell a person to type: the tutorial is run as it stands, every other command is one there is."""

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from pipeline.cli import main

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs" / "how-to" / "tutorial.md"
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*/*.md"), *(ROOT / "docs").glob("*.md")])
NOT_RUN_THERE = {
    "desk upload": "tests/leaderboard/test_desk_portal.py",
    "desk fetch": "tests/leaderboard/test_desk_portal.py",
    "desk import": "tests/leaderboard/test_desk_imports.py",
    "desk plan": "tests/leaderboard/test_desk.py",
    "score": "tests/pipeline/test_recheck.py",
    "sentinels": "tests/pipeline/test_driver_check.py",
    "search": "tests/e2e/test_main_job.py",
    "worker": "tests/pipeline/test_cluster.py",
}
"""Commands of the how-tos that need a portal, a cluster or the data set: where they are run instead."""


def commands(text: str) -> Iterator[list[str]]:
    """Every line of a block of code that calls `kernelarc`, its continuation lines joined, as words."""
    blocks = re.findall(r"^(?: {4,}|\t).+|^```\w*\n(?:.*\n)*?```", text, re.MULTILINE)
    for line in "\n".join(blocks).replace("\\\n", " ").splitlines():
        if "[--" in line:  # a synopsis, which nobody types
            continue
        found = re.match(r"\s*(?:[a-z]+=\$\()?(?:\.venv/bin/)?kernelarc (.+)", line)
        if found:
            yield shlex.split(re.split(r"\s\|\|?\s", found[1])[0], comments=True)


def resolved(words: list[str]) -> tuple[click.Command, str, list[str]]:
    """The command that the words name, its name, and what is left of them."""
    command: click.Command = main
    names = []
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, words = words[0], words[1:]
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"there is no command {name}"
        command = found
        names.append(name)
    return command, " ".join(names), words


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_command_in_the_documents_is_one_there_is_with_options_it_takes(document: Path) -> None:
    for words in commands(document.read_text()):
        command, name, rest = resolved(words)
        rest = ["x" if word in ("…", "...") or "<" in word else word for word in rest]
        with command.make_context(name or "kernelarc", rest, resilient_parsing="--help" in rest):
            pass


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_programs_tests_and_targets_that_the_documents_name_are_there(document: Path) -> None:
    """In blocks and in sentences. What the log says was so on its day."""
    if document.name == "log.md":
        return
    text = document.read_text()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for module in re.findall(r"python3? -m ([a-z_.]+)", text):
        assert importlib.util.find_spec(module) is not None, f"there is no module {module}"
    for target in re.findall(r"(?:`|^ *)make ([a-z-]+)", text, re.MULTILINE):
        assert target in targets, f"there is no target {target}"
    for path in re.findall(r"pytest (?:-m \w+ )?(tests/[\w/.]+)", text):
        assert (ROOT / path).exists(), f"there is no {path}"


def test_what_the_how_tos_call_is_run_by_the_tutorial_or_by_a_named_test() -> None:
    run = {resolved(words)[1] for words in commands(TUTORIAL.read_text())}
    for document in TUTORIAL.parent.glob("*.md"):
        for words in commands(document.read_text()):
            name = resolved(words)[1]
            if name in run:
                continue
            test = NOT_RUN_THERE.get(name)
            assert test is not None, f"{document.name}: nothing runs `kernelarc {name}`"
            assert f'"{name.split()[-1]}"' in (ROOT / test).read_text(), f"{test} does not run {name}"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_tutorial_runs_as_it_stands_in_an_empty_folder(tmp_path: Path) -> None:
    blocks = re.findall(r"^```sh\n((?:.*\n)*?)```", TUTORIAL.read_text(), re.MULTILINE)
    assert len(blocks) >= 6
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin" / "kernelarc"
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pipeline "$@"\n')
    shim.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("KERNELARC_", "SOL_"))}
    environment = {**plain, "PATH": f"{shim.parent}:{plain['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(blocks)],
        cwd=work, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for made in ("board/index.html", "driver.json", "notebook/verdicts.parquet", ".kernelarc/store.sqlite"):
        assert (work / made).is_file()
    assert "accepted" in done.stdout and "l1_swiglu" in done.stdout
