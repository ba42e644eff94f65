"""Every command of the how-tos, run as it stands in the folder of the person it is written for, on a made-up GPU.

What a line names (a folder, a file that was saved) is there; only digests in names are put in. What needs a portal or a
cluster is run elsewhere, and says where. The tutorial, on a real CPU, has a test of its own.
"""

import glob
import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from guard.protocol import FINAL
from pipeline.cli import main
from pipeline.evaluate import reference_of
from submissions.package import package
from submissions.write import write
from tasks import load
from tasks.task import Task
from tests.fakes.card import Card, a_card
from tests.fakes.task import doubling_task
from tests.submissions.builders import a_context

ROOT = Path(__file__).parents[2]
HOW_TOS = sorted(path for path in (ROOT / "docs" / "how-to").glob("*.md") if path.name != "tutorial.md")
ELSEWHERE = {
    "pytest-benchmark compare": "tests/leaderboard/test_benchmark_json.py::test_pytest_benchmark_compares_two",
    "kernelarc desk upload": "tests/leaderboard/test_desk_portal.py",
    "kernelarc desk fetch": "tests/leaderboard/test_desk_portal.py",
    "dask scheduler": "tests/pipeline/test_cluster.py",
    "kernelarc worker": "tests/pipeline/test_cluster.py",
    "kernelarc search": "tests/pipeline/test_cluster.py",
}
"""Lines that need what is not here, and the test that does what they do."""
CODES = {"kernelarc desk drift": (0, 1)}
"""Exit codes that are as they should be, where 0 is not the only one: drift is what it looks for."""
COMMAND = re.compile(r"(kernelarc|make|dask|pytest-benchmark) ")
DIGEST = "0123456789ab"


def lines(document: Path) -> Iterator[str]:
    """Every line of a block of code, its continuation lines joined."""
    blocks = re.findall(r"^(?: {4,}|\t).+|^```\w*\n(?:.*\n)*?```", document.read_text(), re.MULTILINE)
    for line in "\n".join(blocks).replace("\\\n", " ").splitlines():
        if COMMAND.match(line.strip()):
            yield line.strip()


@pytest.fixture
def person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Card:
    """Whoever reads: a home with a data set and downloads, two submissions, a snapshot, and files of earlier days."""
    monkeypatch.setenv("HOME", str(tmp_path))
    card = a_card(tmp_path, monkeypatch)
    for name, folder in (("002_decoder", "L2"), ("002_llama_decoder_layer", "L2")):
        a_problem(tmp_path / "SOL-ExecBench" / folder / name)
    submitted(load("l1_rmsnorm"), card)
    submitted(load("L2/002_decoder", data_roots=[tmp_path / "SOL-ExecBench"]), card)
    (tmp_path / "mine.json").write_text(json.dumps(a_solution()))
    (tmp_path / "Downloads").mkdir()
    (tmp_path / "Downloads" / "my-submissions.html").write_text(
        "<table><tr><th>Name</th><th>Status</th><th>Score</th></tr>"
        "<tr><td>l1_rmsnorm</td><td>passed</td><td>0.61</td></tr></table>"
    )
    (tmp_path / "board").mkdir()
    results = [{"kernel_id": 1, "kernel_name": "002_decoder", "score": 0.9, "user": "somebody"}]
    (tmp_path / "board" / "ranking.json").write_text(json.dumps(results))
    first = str(next(Path("submissions").glob("ready/L1/*/*")))
    for arguments in (
        ["snapshot", first],
        ["desk", "sent", first, "--mode", "private"],
        ["regress", "--benchmark-json", "0002_new.json"],
    ):
        done = CliRunner().invoke(main, arguments)
        assert done.exit_code == 0, done.stderr
    return card


def a_problem(folder: Path) -> None:
    task = doubling_task((4, 8))
    folder.mkdir(parents=True)
    definition = task.definition.model_copy(update={"name": folder.name})
    (folder / "definition.json").write_text(definition.model_dump_json())
    (folder / "workload.jsonl").write_text("".join(w.model_dump_json() + "\n" for w in task.workloads))
    times = [{"axes": {"n": n}, "t_sol_ms": 0.05, "t_b_ms": 0.25} for n in (4, 8)]
    (folder / "published.json").write_text(json.dumps({"b200_v11": times}))


def submitted(task: Task, card: Card) -> None:
    judged = reference_of(task)
    verdict = card(task, judged, FINAL, None)
    write(package(task, judged, verdict, target="LOCAL", context=a_context(verdict)), Path("submissions"))


def a_solution() -> dict[str, object]:
    solution = reference_of(load("l1_rmsnorm")).solution
    return solution.model_dump(mode="json", exclude_none=True)


def words_of(line: str) -> list[str]:
    """What the shell makes of it; a target of make is what its recipe would call."""
    if line.startswith("make "):
        command = ["make", "-n", "-s", "-C", str(ROOT), *shlex.split(line)[1:], "RUN=python"]
        # what this very run of make was told, such as `make test ARGS=-x`, is not for the make of a how-to
        plain = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "ARGS")}
        said = subprocess.run(command, env=plain, capture_output=True, text=True, check=True).stdout
        line = said.replace("\\\n", " ").strip().replace("python -m pipeline", "kernelarc")
    names = {
        path.name.rsplit("-", 1)[0]: path.stem for path in Path("leaderboard/snapshots").glob("l1_*.json")
    }
    kept = {path.parent.name: path.name for path in Path("submissions").glob("*/*/*/*")}
    found: list[str] = []
    for word in shlex.split(line, comments=True):
        word = word.replace("<name>", names["l1_rmsnorm"]).replace(
            f"l1_rmsnorm-{DIGEST}", names["l1_rmsnorm"]
        )
        task = word.removesuffix(f"/{DIGEST}").rsplit("/", 1)[-1]
        word = word.replace(DIGEST, kept.get(task, DIGEST))
        word = str(Path(word).expanduser()) if word.startswith("~") else word
        if word.startswith("l1_") and word.endswith(".json"):
            word = f"leaderboard/snapshots/{word}"
        found += sorted(glob.glob(word)) if "*" in word and "/" in word else [word]
    return found


@pytest.mark.parametrize("document", HOW_TOS, ids=lambda path: path.name)
def test_every_line_of_a_how_to_does_what_it_should(document: Path, person: Card) -> None:
    ran = 0
    for line in lines(document):
        elsewhere = [test for start, test in ELSEWHERE.items() if line.startswith(start)]
        if elsewhere:
            file, _, name = elsewhere[0].partition("::")
            assert name in (ROOT / file).read_text()
            continue
        program, *arguments = words_of(line)
        assert program == "kernelarc", line
        done = CliRunner().invoke(main, arguments)
        expected = next((codes for start, codes in CODES.items() if line.startswith(start)), (0,))
        assert done.exit_code in expected, f"{line}: {done.output}"
        ran += 1
    assert ran >= 1


def test_lines_are_found_in_both_kinds_of_blocks(tmp_path: Path) -> None:
    page = tmp_path / "x.md"
    page.write_text(
        "    kernelarc a --b \\\n      c\n\ntext `kernelarc no`\n\n```sh\nmake d\n```\n    S = 1\n"
    )
    assert list(lines(page)) == ["kernelarc a --b        c", "make d"]
