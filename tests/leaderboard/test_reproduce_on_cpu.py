"""A snapshot reproduced by the real guard, on this machine's CPU: rebuilt, judged in fresh processes, compared."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from guard.judge import judge
from guard.protocol import FINAL
from guard.session import Session
from leaderboard.snapshot import take_snapshot
from leaderboard.snapshot_file import write_snapshot
from pipeline.cli import main
from pipeline.evaluate import reference_of
from pipeline.prepare import prepare
from pipeline.progress import Silent
from pipeline.settings import Settings
from submissions.package import package
from tests.submissions.builders import a_context

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PROTOCOL = FINAL.model_copy(
    update={"processes": 8, "official_rounds": 1, "warmup_calls": 1, "timed_calls": 1, "measured_calls": 3}
)


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the reference of a shipped task, judged in eight processes: as few as can show anything."""
    prepared = prepare(Settings(device="cpu"), "l1_rmsnorm", "cpu", Silent())
    candidate = reference_of(prepared.asked)
    with Session("cpu") as session:
        verdict = judge(prepared.judged, candidate, PROTOCOL, session)
    submission = package(prepared.judged, candidate, verdict, context=a_context(verdict, PROTOCOL))
    return write_snapshot(take_snapshot(submission), tmp_path_factory.mktemp("snapshots"))


def test_it_is_accepted_again_and_every_workload_is_compared(snapshot: Path) -> None:
    """Which answer a busy CPU's wall clock gives nobody can promise; that it gives one, by all processes, yes."""
    done = CliRunner().invoke(main, ["reproduce", str(snapshot), "--device", "cpu", "--json"])
    said = json.loads(done.stdout)
    assert said["status"] == "accepted"
    assert said["answer"] in ("REPRODUCED", "INCONCLUSIVE", "SLOWER", "FASTER")
    assert done.exit_code == (0 if said["answer"] == "REPRODUCED" else 1)
    assert said["not_covered"] == [] and len(said["workloads"]) > 1
    assert {tuple(w["processes"]) for w in said["workloads"]} == {(8, 8)}
    assert not any(d["bars"] for d in said["differences"]), said["differences"]


def test_a_snapshot_of_another_cpu_is_judged_and_not_compared(snapshot: Path, tmp_path: Path) -> None:
    from leaderboard.snapshot_file import read_snapshot

    found = read_snapshot(snapshot)
    elsewhere = found.model_copy(
        update={
            "environment": found.environment.model_copy(update={"device": "another CPU"}),
            "protocol": found.protocol.model_copy(update={"processes": 1}),
        }
    )
    done = CliRunner().invoke(
        main, ["reproduce", str(write_snapshot(elsewhere, tmp_path)), "--device", "cpu", "--json"]
    )
    said = json.loads(done.stdout)
    assert (done.exit_code, said["answer"], said["status"]) == (2, "NOT COMPARABLE", "accepted")
    assert [d["what"] for d in said["differences"] if d["bars"]] == ["device"]
