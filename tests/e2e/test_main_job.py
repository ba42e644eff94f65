"""The main job on real input, as a person starts it: on this machine's CPU, with the real guard."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.journal import read_events
from pipeline.run_folder import recorded_verdicts

ROOT = Path(__file__).parents[2]
KERNELARC = [sys.executable, "-m", "pipeline"]
PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("KERNELARC_")}

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def kernelarc(*arguments: object, code: int = 0) -> dict:
    done = subprocess.run(
        [*KERNELARC, *map(str, arguments), "--json"], cwd=ROOT, env=PLAIN, capture_output=True, text=True
    )
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def submitted(tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("job")
    return kernelarc(
        "submit", "l1_rmsnorm", "--device", "cpu", "--budget", 8,
        "--agents", "reference,library,template",
        "--out", folder / "submissions", "--runs", folder / "runs",
    )  # fmt: skip


def test_the_submission_is_a_draft_that_verifies(submitted):
    assert submitted["readiness"] == "draft"
    assert submitted["performance"] == "performance: not measured on the target"
    assert kernelarc("verify", submitted["folder"])["holds"] is True


def test_the_champion_is_a_triton_kernel_and_eight_were_judged_of_three_agents(submitted):
    solution = json.loads((Path(submitted["folder"]) / "solution.json").read_text())
    assert solution["spec"]["languages"] == ["triton"]
    _, events = read_events(Path(submitted["run"]) / "journal.jsonl")
    judged = [event for event in events if event.event == "judged"]
    assert len({event.candidate for event in judged}) == 8
    assert len({event.agent for event in judged}) >= 3


def test_a_changed_byte_does_not_verify(submitted, tmp_path):
    copy = tmp_path / Path(submitted["folder"]).name
    copy.mkdir()
    for file in Path(submitted["folder"]).iterdir():
        (copy / file.name).write_bytes(file.read_bytes())
    traces = copy / "traces.jsonl"
    traces.write_text(traces.read_text().replace("PASSED", "TIMEOUT", 1))
    assert kernelarc("verify", copy, code=1)["discrepancies"]


def test_the_emitted_solution_is_accepted_when_it_is_judged_by_itself(submitted):
    file = Path(submitted["folder"]) / "solution.json"
    verdict = kernelarc(
        "evaluate", "l1_rmsnorm", "--solution", file, "--device", "cpu", "--protocol", "smoke"
    )
    assert (verdict["status"], verdict["marks"]) == ("accepted", ["shrunk"])


def test_a_search_that_is_killed_goes_on_and_judges_nothing_twice(tmp_path):
    command = [
        *KERNELARC, "search", "l1_rmsnorm", "--device", "cpu", "--budget", "2", "--agents",
        "reference,library", "--runs", str(tmp_path),
    ]  # fmt: skip
    search = subprocess.Popen(
        command, cwd=ROOT, env=PLAIN, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    run = wait_for(lambda: next(tmp_path.glob("*/verdicts/*.json"), None), search).parents[1]
    search.send_signal(signal.SIGKILL)
    search.wait()
    before = {verdict.digest for verdict in recorded_verdicts(run)}
    found = kernelarc("resume", run)
    assert before <= {verdict.digest for verdict in recorded_verdicts(run)}
    assert len(found["accepted"]) == 2


def wait_for(find, process: subprocess.Popen) -> Path:
    until = time.monotonic() + 120
    while (found := find()) is None:
        assert process.poll() is None and time.monotonic() < until
        time.sleep(0.05)
    return found
