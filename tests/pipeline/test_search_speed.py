"""What the search itself costs; run alone, by `make bench`."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def figures(folder: Path, count: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for phase in ("live", "replay"):
        command = [sys.executable, "-m", "tests.fakes.replay_many", phase, str(folder), str(count)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        found |= json.loads(done.stdout)
    return found


@pytest.mark.bench
@pytest.mark.timeout(900)
def test_ten_thousand_recorded_verdicts_replay_in_twenty_seconds_and_500_mb(tmp_path):
    found = figures(tmp_path, 10_000)
    assert found["replay_s"] < 20 and found["mib"] < 500, found
    assert found["live_ms"] < 50, found


def test_a_replay_costs_a_candidate_little_however_busy_the_machine_is(tmp_path):
    found = figures(tmp_path, 60)
    assert found["replay_s"] < 30, (
        found
    )  # its memory is the bench's to hold: a child starts with its parent's peak
