"""The campaign of the leaderboard's bars: each step over a GPU that is made up, and what is said of its rows."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import guard.environment
import guard.judge
import guard.session
import pipeline.recheck
import pipeline.regress
import scripts.leaderboard_bars.command as command
import scripts.leaderboard_bars.comparing as comparing
from agents import create
from guard.protocol import Protocol
from guard.verdict import Verdict
from scripts.leaderboard_bars.delay import delayed, delayed_on_cpu
from scripts.leaderboard_bars.summary import met, summary
from tasks import load
from tasks.candidate import Candidate
from tasks.task import Task
from tests.fakes.task import candidate, doubling_task
from tests.leaderboard.snapshots import H200, verdict_on

MOVED = {"sentinel_copy": 0.02, "l1_swiglu": 0.03}


class Device:
    """Every candidate takes what it took, and more by what its source makes it wait."""

    def __init__(self) -> None:
        self.seed = 0
        self.judged: list[tuple[str, int]] = []
        self.drift: dict[str, float] = {}

    def __call__(
        self, task: Task, candidate: Candidate, protocol: Protocol, session: object, note: object = None
    ) -> Verdict:
        self.seed += 1
        self.judged.append((task.name, len(task.workloads)))
        text = candidate.solution.sources[0].content
        waits = {"cycles=" in line for line in text.splitlines() if "kernel(x, y" in line} | {"WAITS" in text}
        factor = 1 + (MOVED[task.name] if any(waits) else 0.0) + self.drift.get(task.name, 0.0)
        # the fake's times rise with a workload's place, which is another one where fewer are judged
        slower = {w.uuid: factor / (place + 1) for place, w in enumerate(task.workloads)}
        return verdict_on(task, candidate, seed=self.seed, slower=slower, spread=0.001, protocol=protocol)


class NoSession:
    def __init__(self, device: str, **_: object) -> None:
        self.device = device

    def __enter__(self) -> "NoSession":
        return self

    def __exit__(self, *_: object) -> None: ...


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Device:
    made = Device()
    for module in (pipeline.recheck, pipeline.regress):
        monkeypatch.setattr(module, "choose_device", lambda _: "cuda")
    for module in (guard.session, command):
        monkeypatch.setattr(module, "Session", NoSession)
    monkeypatch.setattr(guard.judge, "judge", made)
    monkeypatch.setattr(comparing, "judge", made)
    monkeypatch.setattr(guard.environment, "gpu_architecture", lambda: "9.0")
    monkeypatch.setattr(pipeline.recheck, "environment_here", lambda _: H200)
    monkeypatch.setattr(pipeline.regress, "environment_here", lambda _: H200)
    return made


def campaign(tmp_path: Path, *options: str) -> tuple[str, dict[str, Any]]:
    out = tmp_path / "bars.json"
    arguments = ["--out", str(out), "--snapshots", str(tmp_path / "snapshots"), *options]
    done = CliRunner().invoke(command.main, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout, json.loads(out.read_text())


def test_all_steps_and_their_bars(tmp_path: Path, device: Device) -> None:
    said, record = campaign(tmp_path)
    assert not [row["why"] for row in record["rows"] if "why" in row]
    steps_done = [row["step"] for row in record["rows"]]
    assert {kind: steps_done.count(kind) for kind in dict.fromkeys(steps_done)} == {
        "sentinels": 6, "same": 6, "injected": 6, "champions": 3, "repeats": 9, "delayed": 3,
    }  # fmt: skip
    assert said.splitlines()[-1] == "same met, injected met, repeats met, delayed met"
    assert "lengthened sentinel_copy, found sentinel_copy; SLOWER in 1 of 1" in said
    assert "lengthened l1_swiglu, found l1_swiglu; SLOWER in 3 of 3 workloads" in said
    assert all(row["environment"]["device"] == "NVIDIA H200" for row in record["rows"])
    champions = [json.loads(path.read_text()) for path in (tmp_path / "snapshots").glob("l1_*.json")]
    assert len(champions) == 3
    assert all(c["candidate"]["agent"] == "template" and len(c["sentinels"]) == 6 for c in champions)
    assert {len(row["workloads"]) for row in record["rows"] if row["step"] == "repeats"} == {3}


def test_what_is_done_is_not_done_again_and_time_that_is_over_is_kept_to(
    tmp_path: Path, device: Device
) -> None:
    sentinels = ("--sentinel", "sentinel_copy", "--steps", "sentinels,same")
    _, first = campaign(tmp_path, *sentinels)
    judged = len(device.judged)
    _, again = campaign(tmp_path, *sentinels)
    assert again["rows"] == first["rows"] and len(device.judged) == judged == 2
    campaign(tmp_path, "--sentinel", "sentinel_copy", "--max-seconds", "0")
    assert len(device.judged) == judged


def test_a_sentinel_that_moved_by_itself_misses_both_bars(tmp_path: Path, device: Device) -> None:
    campaign(tmp_path, "--steps", "sentinels")
    device.drift = {"sentinel_reduce": 0.015}
    said, record = campaign(tmp_path, "--steps", "same,injected")
    assert met(record["rows"]) == {"same": False, "injected": False}
    assert "found sentinel_copy, sentinel_reduce" in said


def test_a_step_before_its_snapshots_is_a_row_that_says_so_and_is_tried_again(
    tmp_path: Path, device: Device
) -> None:
    one = ("--sentinel", "sentinel_copy", "--steps")
    _, record = campaign(tmp_path, *one, "same")
    assert "the step sentinels comes first" in record["rows"][0]["why"]
    assert met(record["rows"]) == {"same": False}
    _, record = campaign(tmp_path, *one, "sentinels,same")
    assert met(record["rows"]) == {"same": True}


def test_times_that_cannot_be_compared_meet_nothing() -> None:
    row = {
        "step": "same",
        "task": "a",
        "answer": "NOT COMPARABLE",
        "workloads": [],
        "differences": ["driver"],
    }
    assert met([row]) == {"same": False}
    assert "a: NOT COMPARABLE (driver)" in summary([row])[0]


@pytest.mark.parametrize("name", ["l1_rmsnorm", "l1_swiglu", "l1_rope", "fi_fused_add_rmsnorm"])
def test_a_champion_can_be_lengthened_inside_its_kernel(name: str) -> None:
    task = load(name)
    champion = create("template", task, 0, target="LOCAL").ask()
    assert champion is not None
    slow = delayed(champion, {(3, 4): 500})
    (source,) = slow.solution.sources
    compile(source.content, "main.py", "exec")
    assert slow.digest != champion.digest and "(3, 4): 500" in source.content
    assert len(re.findall(r"wait_cycles=WAIT\[0\]", source.content)) == 1
    assert len(re.findall(r"^    wait_at_the_end\(wait_cycles\)$", source.content, re.M)) == 1


def test_a_candidate_without_one_launch_cannot_be_lengthened() -> None:
    with pytest.raises(ValueError, match="launches kernels from 0 places"):
        delayed(candidate("accepted 1"), {})


def test_on_a_cpu_it_is_busy_until_so_long_after_the_call() -> None:
    import time

    import torch

    slow = delayed_on_cpu(candidate("accepted 1", doubling_task()), {(4,): 20_000_000})
    names: dict[str, Any] = {}
    exec(compile(slow.solution.sources[0].content, "main.py", "exec"), names)
    began = time.perf_counter()
    assert torch.equal(names["run"](torch.ones(4)), torch.full((4,), 2.0))
    assert time.perf_counter() - began >= 0.02
