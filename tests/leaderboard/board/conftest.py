"""One page of a few synthetic tasks, made once through the command line, for all that look at it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from guard.verdict import Environment
from leaderboard.sessions import Session, write_session
from pipeline.cli import main
from pipeline.journal import Event, Journal
from pipeline.run_folder import JOURNAL, Header
from pipeline.settings import Settings
from tests.leaderboard.board.synthetic import task_names, write_submissions, write_tables

TASKS = task_names(4)
EACH = 3


def _write_run(root: Path, name: str, seed: int) -> None:
    folder = root / name
    folder.mkdir(parents=True)
    header = Header(
        command="search", task=TASKS[0], task_digest="0" * 64, device="cuda", agents=("library", "template"),
        budget=6, settings=Settings(seed=seed),
    )  # fmt: skip
    journal = Journal.create(folder / JOURNAL, header.model_dump(mode="json"))
    for number in range(6):
        agent, digest = header.agents[number % 2], f"{seed}{number}".ljust(64, "a")
        journal.append(Event(event="asked", agent=agent, candidate=digest, strategy=f"idea {number}"))
        rejected = number == 3
        journal.append(
            Event(
                event="judged", agent=agent, candidate=digest, status="rejected" if rejected else "accepted",
                reason="numerical" if rejected else None, latency_ms=None if rejected else 1.0 / (number + 1 + seed),
            )
        )  # fmt: skip
    journal.close()


def _write_sessions(root: Path) -> None:
    for number in range(11):
        environment = Environment(
            device="NVIDIA H200", kind="cuda", uuid="GPU-1", driver="580.1" if number < 8 else "590.2"
        )
        session = Session(
            snapshot="f" * 64, taken_at=f"2026-08-{number + 1:02d}T12:00:00+00:00", environment=environment,
            medians_ms={"w": 0.1 + 0.0001 * (number % 3) + (0.01 if number >= 8 else 0)},
        )  # fmt: skip
        write_session(session, root)


@pytest.fixture(scope="session")
def material(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Submissions, runs, driver checks and tables of a few tasks; one submission was tampered with."""
    root = tmp_path_factory.mktemp("material")
    write_submissions(root / "submissions", TASKS, EACH)
    write_tables(root, TASKS)
    _write_run(root / "runs", "first", 1)
    _write_run(root / "runs", "second", 2)
    _write_sessions(root / "sessions")
    tampered = sorted((root / "submissions").glob("*/L2/002_problem/*/solution.json"))[0]
    tampered.write_text(tampered.read_text().replace("x + x", "x * 3"))
    return root


def build_board(material: Path, out: Path) -> dict[str, object]:
    result = CliRunner().invoke(
        main,
        [
            "board", "--json", "--out", str(out), "--submissions", str(material / "submissions"),
            "--runs", str(material / "runs"), "--sessions", str(material / "sessions"),
            "--snapshots", str(material / "snapshots"), "--store", f"sqlite:///{material}/store.sqlite",
            "--t-sol", str(material / "t_sol.json"), "--t-b", str(material / "t_b.json"), "--problems", "235",
        ],
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


@pytest.fixture(scope="session")
def site(material: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the page."""
    out = tmp_path_factory.mktemp("board") / "page"
    build_board(material, out)
    return out
