"""Snapshots, scores and rechecks from the command line, over a fake guard."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import guard.judge
import guard.session
import pipeline.prepare
import pipeline.recheck
import pipeline.regress
from guard.protocol import FINAL, Protocol
from guard.verdict import Environment, Reason, ReasonCode, Verdict
from leaderboard.equivalence import Answer
from leaderboard.holds import holds
from pipeline.cli import main
from pipeline.recheck import joined, judged_parts
from pipeline.settings import PREFIX
from submissions.package import package
from submissions.write import write
from tasks import load
from tasks.candidate import Candidate
from tasks.task import Task
from tests.fakes.task import candidate, doubling_task
from tests.leaderboard.snapshots import H200, a_problem, snapshot_of, verdict_on
from tests.submissions.builders import a_context

CPU = Environment(device="cpu (fake)", kind="cpu", isolation="memfd+netns+landlock+seccomp")


class NoSession:
    """Holds nothing."""

    def __init__(self, *_: object, **__: object) -> None: ...
    def __enter__(self) -> "NoSession":
        return self

    def __exit__(self, *_: object) -> None: ...
    def begin(self) -> None: ...


class FakeGuard:
    """Judges every candidate as accepted with drawn times, as the fields say."""

    def __init__(self) -> None:
        self.seed = 1
        self.slower: dict[str, float] = {}
        self.environment = CPU
        self.rejects = False
        self.protocols: list[Protocol] = []

    def __call__(
        self, task: Task, candidate: Candidate, protocol: Protocol, session: object, progress: object = None
    ) -> Verdict:
        self.seed += 1
        self.protocols.append(protocol)
        timer = "wall" if self.environment.kind == "cpu" else "cupti"
        verdict = verdict_on(
            task, candidate, seed=self.seed, slower=self.slower, environment=self.environment, timer=timer,
            protocol=protocol,
        )  # fmt: skip
        if not self.rejects:
            return verdict
        reason = Reason(code=ReasonCode.NUMERICAL, message="not as the reference")
        return verdict.model_copy(update={"status": "rejected", "reason": reason})


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeGuard:
    fake = FakeGuard()
    monkeypatch.chdir(tmp_path)
    for variable in list(__import__("os").environ):
        if variable.startswith(PREFIX) or variable == "SOL_EXECBENCH_DATA":
            monkeypatch.delenv(variable)
    monkeypatch.setattr(guard.session, "Session", NoSession)
    monkeypatch.setattr(guard.judge, "judge", fake)
    monkeypatch.setattr(pipeline.prepare, "cpu_share", lambda task, *_: task)
    return fake


def submission_folder(tmp_path: Path, fake: FakeGuard, protocol: Protocol = FINAL) -> Path:
    """A submission of a problem in a folder of its own, as `submit` leaves it."""
    task = doubling_task((4, 8, 16))
    place = tmp_path / "doubling"
    place.mkdir(exist_ok=True)
    (place / "definition.json").write_text(task.definition.model_dump_json())
    lines = "".join(workload.model_dump_json() + "\n" for workload in task.workloads)
    (place / "workload.jsonl").write_text(lines)
    loaded = load(str(place))
    judged = candidate("accepted 1", loaded)
    verdict = fake(loaded, judged, protocol, None)
    submission = package(loaded, judged, verdict, target="LOCAL", context=a_context(verdict, protocol))
    return write(submission, tmp_path / "submissions")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def snapshot_file(tmp_path: Path, fake: FakeGuard, *options: object) -> Path:
    done = run(
        "snapshot", submission_folder(tmp_path, fake), "--out", tmp_path / "snapshots", *options, "--json"
    )
    assert done.exit_code == 0, done.stderr
    return Path(json.loads(done.stdout)["file"])


def test_a_snapshot_of_a_cpu_run_is_reproduced_under_its_own_protocol(tmp_path, fake) -> None:
    done = run("reproduce", snapshot_file(tmp_path, fake), "--device", "cpu", "--json")
    said = json.loads(done.stdout)
    assert (done.exit_code, said["answer"], said["holds"]) == (0, "REPRODUCED", True)
    assert [p.processes for p in fake.protocols] == [10, 10]
    assert "wall clock" in said["basis"]


def test_a_workload_that_became_slower_is_named_with_exit_1(tmp_path, fake) -> None:
    file = snapshot_file(tmp_path, fake)
    fake.slower = {"workload-8": 1.5}
    done = run("reproduce", file, "--device", "cpu")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "correctness: accepted again, every output checked"
    assert lines[1].startswith("SLOWER: 3 of 3 workloads compared by a CPU's wall clock")
    assert [line.split(":")[0] for line in lines if ": SLOWER (margin 25%)" in line] == ["workload-8"]


def test_what_the_guard_rejects_now_does_not_hold(tmp_path, fake) -> None:
    file = snapshot_file(tmp_path, fake)
    fake.rejects = True
    done = run("reproduce", file, "--device", "cpu")
    assert done.exit_code == 1
    assert "REJECTED" in done.stdout and "numerical: not as the reference" in done.stdout


def test_on_a_cpu_a_gpus_snapshot_is_checked_for_correctness_and_its_times_are_not_compared(
    tmp_path, fake
) -> None:
    fake.environment = H200
    file = snapshot_file(tmp_path, fake)
    fake.environment = CPU
    done = run("reproduce", file, "--device", "cpu", "--json")
    said = json.loads(done.stdout)
    assert (done.exit_code, said["answer"], said["status"]) == (2, "NOT COMPARABLE", "accepted")
    barring = {d["what"] for d in said["differences"] if d["bars"]}
    assert {"kind", "device", "driver", "timer"} <= barring
    assert fake.protocols[-1].processes == 2
    fake.rejects = True
    assert run("reproduce", file, "--device", "cpu").exit_code == 1


def test_a_definition_that_changed_since_is_refused(tmp_path, fake) -> None:
    file = snapshot_file(tmp_path, fake)
    definition = tmp_path / "doubling" / "definition.json"
    definition.write_text(definition.read_text().replace("x * 2", "x + x"))
    done = run("reproduce", file, "--device", "cpu")
    assert done.exit_code == 2
    assert "not the definition that the snapshot was taken on" in done.stderr


def test_a_snapshot_by_digest_needs_its_submission(tmp_path, fake) -> None:
    file = snapshot_file(tmp_path, fake, "--by-digest")
    assert run("reproduce", file, "--device", "cpu").exit_code == 2
    folder = next((tmp_path / "submissions").rglob("evidence.json")).parent
    assert run("reproduce", file, "--device", "cpu", "--submission", folder).exit_code == 0


def test_a_changed_submission_makes_no_snapshot_and_no_score(tmp_path, fake) -> None:
    folder = submission_folder(tmp_path, fake)
    traces = folder / "traces.jsonl"
    traces.write_text(traces.read_text().replace("PASSED", "TIMEOUT", 1))
    for command in ("snapshot", "score"):
        done = run(command, folder)
        assert done.exit_code == 2 and "does not verify" in done.stderr


def published(tmp_path: Path, sol: float, baseline: float) -> None:
    entries = [{"axes": {"n": n}, "t_sol_ms": sol, "t_b_ms": baseline} for n in (4, 8, 16)]
    (tmp_path / "doubling" / "published.json").write_text(json.dumps({"b200_v11": entries}))


def test_a_folder_is_scored_with_the_published_tables_and_its_snapshot_keeps_the_score(
    tmp_path, fake
) -> None:
    fake.environment = H200
    folder = submission_folder(tmp_path, fake)
    published(tmp_path, 0.05, 0.25)
    done = run("score", folder, "--problems", 235, "--json")
    said = json.loads(done.stdout)
    times = [0.1, 0.2, 0.3]
    expected = np.mean([1 / (1 + (t - 0.05) / 0.2) for t in times])
    assert said["problems"][0]["score"] == pytest.approx(expected, rel=0.01)
    assert said["benchmark"]["score"] == pytest.approx(expected / 235, rel=0.01)
    text = run("score", folder).stdout
    assert "/ 3 workloads (3 scored, 0 counted 0)" in text and "not a board score" in text
    assert "/ 1 problems (1 answered, 0 counted 0)" in text
    frozen = json.loads(run("snapshot", folder, "--out", tmp_path / "s", "--json").stdout)
    assert frozen["score"] == pytest.approx(said["problems"][0]["score"])


def test_without_tables_there_is_no_score_and_the_mend_is_said(tmp_path, fake) -> None:
    done = run("score", submission_folder(tmp_path, fake))
    assert done.exit_code == 2 and "--t-sol" in done.stderr
    assert run("score", submission_folder(tmp_path, fake), "--t-sol", "x.json").exit_code == 2


def test_a_task_stands_for_its_best_submission_and_scores_zero_without_one(tmp_path, fake) -> None:
    fake.environment = H200
    submission_folder(tmp_path, fake)
    published(tmp_path, 0.05, 0.25)
    fake.slower = {f"workload-{n}": 3.0 for n in (4, 8, 16)}
    submission_folder(tmp_path, fake)
    best = json.loads(run("score", tmp_path / "doubling", "--json").stdout)["problems"][0]
    assert best["problem"]["workloads"][0]["latency_ms"] == pytest.approx(0.1, rel=0.01)
    none = run("score", tmp_path / "doubling", "--out", tmp_path / "nowhere")
    assert none.exit_code == 0 and "3 counted 0" in none.stdout and "nothing was submitted" in none.stdout


def a_sentinel(tmp_path: Path, fake: FakeGuard) -> Path:
    """Of the shipped problem beside it, as another candidate."""
    task = load(str(tmp_path / "doubling"))
    judged = candidate("accepted 2", task)
    verdict = fake(task, judged, FINAL, None)
    submission = package(task, judged, verdict, target="LOCAL", context=a_context(verdict))
    done = run("snapshot", write(submission, tmp_path / "sentinels"), "--out", tmp_path / "s", "--json")
    return Path(json.loads(done.stdout)["file"])


def test_on_another_card_sentinels_are_judged_first_and_take_its_speed_out(
    tmp_path, fake, monkeypatch
) -> None:
    fake.environment = H200
    folder = submission_folder(tmp_path, fake)
    sentinel = a_sentinel(tmp_path, fake)
    done = run("snapshot", folder, "--out", tmp_path / "s", "--sentinel", sentinel, "--json")
    file = json.loads(done.stdout)["file"]
    fake.environment = H200.model_copy(update={"uuid": "GPU-2"})
    fake.slower = {f"workload-{n}": 1.07 for n in (4, 8, 16)}
    monkeypatch.setattr(pipeline.recheck, "environment_here", lambda device: fake.environment)
    monkeypatch.setattr(pipeline.recheck, "choose_device", lambda wanted: "cuda")
    judged = len(fake.protocols)
    said = json.loads(run("reproduce", file, "--sentinel", sentinel, "--json").stdout)
    assert (said["answer"], len(fake.protocols) - judged) == ("REPRODUCED", 2)
    assert "sentinel" in said["basis"] and {w["margin"] for w in said["workloads"]} == {0.03}
    assert said["workloads"][0]["ratio"] == pytest.approx(1.0, abs=0.01)
    fake.environment = H200
    run("reproduce", file, "--sentinel", sentinel)
    assert len(fake.protocols) - judged == 3


def test_a_sentinel_of_another_card_is_refused(tmp_path, fake) -> None:
    fake.environment = H200
    folder = submission_folder(tmp_path, fake)
    fake.environment = H200.model_copy(update={"uuid": "GPU-2"})
    sentinel = a_sentinel(tmp_path, fake)
    done = run("snapshot", folder, "--out", tmp_path / "s", "--sentinel", sentinel)
    assert done.exit_code == 2 and "is no sentinel for it: card: GPU-2 then, GPU-1 now" in done.stderr


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_limited_run_leaves_out_by_name_what_no_longer_fits() -> None:
    task, judged = a_problem(16)
    clock = Clock()

    def judge(part: Task, candidate: Candidate, protocol: Protocol) -> Verdict:
        clock.now += 10.0
        return verdict_on(part, candidate, seed=3, environment=H200)

    parts = list(judged_parts(task, judged, FINAL, judge, max_seconds=35.0, clock=clock))
    assert [len(part.workloads) for part in parts] == [2, 2, 2]
    verdict = joined(task, parts)
    snapshot = snapshot_of(task, judged, verdict_on(task, judged, seed=3))
    holding = holds(snapshot, verdict, FINAL, part_of=task.digest)
    assert holding.answer is not Answer.NOT_COMPARABLE
    assert holding.not_covered == tuple(w.uuid for w in task.workloads[6:])
    assert not holding.holds


def test_a_run_ends_with_the_first_rejection_and_is_rejected_as_a_whole() -> None:
    task, judged = a_problem(16)
    fake = FakeGuard()
    fake.rejects = True
    parts = list(judged_parts(task, judged, FINAL, lambda t, c, p: fake(t, c, p, None), max_seconds=1e9))
    assert len(parts) == 1 and joined(task, parts).status == "rejected"


def new_driver(monkeypatch: pytest.MonkeyPatch, fake: FakeGuard, **changes: object) -> None:
    fake.environment = H200.model_copy(update={"driver": "590.1", **changes})
    monkeypatch.setattr(pipeline.regress, "environment_here", lambda device: fake.environment)
    monkeypatch.setattr(pipeline.regress, "choose_device", lambda wanted: "cuda")
    monkeypatch.setattr(pipeline.recheck, "choose_device", lambda wanted: "cuda")


def test_a_driver_that_changes_nothing_passes_and_leaves_a_session(tmp_path, fake, monkeypatch) -> None:
    fake.environment = H200
    file = snapshot_file(tmp_path, fake)
    new_driver(monkeypatch, fake)
    done = run("regress", file, "--json")
    (said,) = json.loads(done.stdout)
    assert (done.exit_code, said["answer"], said["good"]) == (0, "REPRODUCED", True)
    assert [d["what"] for d in said["differences"]] == ["driver"]
    assert said["series"]["new_sessions"] == 1 and said["series"]["slower"] is None
    assert len(list((tmp_path / ".kernelarc" / "sessions").rglob("*.json"))) == 1


def test_two_percent_on_one_kernel_alone_is_found_there_alone(tmp_path, fake, monkeypatch) -> None:
    fake.environment = H200
    file = snapshot_file(tmp_path, fake)
    new_driver(monkeypatch, fake)
    fake.slower = {"workload-8": 1.03}
    done = run("regress", file, "--json")
    (said,) = json.loads(done.stdout)
    assert (done.exit_code, said["answer"]) == (1, "SLOWER")
    assert [w["uuid"] for w in said["holding"]["workloads"] if w["answer"] == "SLOWER"] == ["workload-8"]


def test_another_device_is_not_comparable_and_nothing_is_judged(tmp_path, fake, monkeypatch) -> None:
    fake.environment = H200
    file = snapshot_file(tmp_path, fake)
    judged = len(fake.protocols)
    new_driver(monkeypatch, fake, device="NVIDIA B200")
    done = run("regress", file)
    assert done.exit_code == 2
    assert "NOT COMPARABLE" in done.stdout and "device: NVIDIA H200 then, NVIDIA B200 now" in done.stdout
    assert len(fake.protocols) == judged
    assert not (tmp_path / ".kernelarc").exists()


def test_pytest_benchmark_reads_what_was_timed(tmp_path, fake, monkeypatch) -> None:
    fake.environment = H200
    file = snapshot_file(tmp_path, fake)
    new_driver(monkeypatch, fake)
    for number in (1, 2):
        assert run("regress", file, "--benchmark-json", tmp_path / f"000{number}_driver.json").exit_code == 0
    said = json.loads((tmp_path / "0001_driver.json").read_text())
    assert said["machine_info"]["driver"] == "590.1"
    assert said["benchmarks"][0]["stats"]["median"] == pytest.approx(1e-4, rel=0.01)
    command = [sys.executable, "-m", "pytest_benchmark", "compare", "0001_driver.json", "0002_driver.json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("[workload-8]") == 2
