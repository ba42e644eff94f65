"""The line from a search to a submission, over a fake judge."""

import json
import shutil
from pathlib import Path

import pytest

import agents
from guard.compile_report import CompileReport, Prediction, WorkloadPrediction
from guard.errors import GuardBroken
from guard.verdict import Verdict
from pipeline.journal import read_events
from pipeline.judging import Judging
from pipeline.prepare import Prepared
from pipeline.progress import Silent
from pipeline.replay import replay
from pipeline.run_folder import Header, Run
from pipeline.settings import Settings
from pipeline.submit import command_of, submit
from submissions.verify import verify
from tasks.candidate import Candidate
from tests.fakes.agents import ListAgent
from tests.fakes.judge import GPU, fake_judge
from tests.fakes.task import doubling_task

TASK = doubling_task()


def foresee(candidate: Candidate, targets: tuple[str, ...]):
    workloads = tuple(
        WorkloadPrediction(uuid=w.uuid, predicted_ms=2.0, bound_by="memory", bytes=1, flops=1, launches=1)
        for w in TASK.workloads
    )
    fits = "unfit" not in candidate.solution.name
    reports = tuple(CompileReport(target=target, ok=fits) for target in targets)
    return reports, Prediction(hardware="B200", workloads=workloads)


class Bench:
    """Runs `submit` over fakes, and counts what was judged under which protocol."""

    def __init__(self, folder: Path, monkeypatch, behaviours: list[str], device="cpu", judge=None) -> None:
        monkeypatch.setattr(
            agents, "create",
            lambda name, task, seed, **_: ListAgent(name, behaviours if name == "listed" else ["accepted 9"]),
        )  # fmt: skip
        self.settings = Settings(out=folder / "submissions", device=device)
        self.header = Header(
            command="submit",
            task=TASK.name,
            task_digest=TASK.digest,
            device=device,
            agents=("listed",),
            budget=5,
            settings=self.settings,
        )
        self.folder, self.device = folder, device
        self.judged: list[str] = []
        self._judge = judge or self._fake

    def _fake(self, candidate: Candidate, protocol) -> Verdict:
        self.judged.append(f"{protocol.name} {candidate.solution.name}")
        if protocol.name == "final" and "fragile" in candidate.solution.name:
            return fake_judge(TASK, rejected(candidate), protocol).model_copy(
                update={"candidate_digest": candidate.digest}
            )
        if self.device == "cuda":
            return fake_judge(TASK, candidate, protocol, GPU)
        return fake_judge(TASK, candidate, protocol)

    def go(self, run: Run, out=None):
        judging = Judging(
            prepared=Prepared(asked=TASK, judged=TASK),
            device=self.device,
            settings=self.settings,
            judge=self._judge,
            foresee=foresee,
        )
        return submit(run, judging, Silent(), out)

    def begin(self):
        with Run.create(self.folder / "runs", self.header) as run:
            self.run = run
            return self.go(run)

    def resume(self, out=None):
        with Run.open(self.run.folder) as run:
            return self.go(run, out)


def rejected(candidate: Candidate) -> Candidate:
    source = candidate.solution.sources[0].model_copy(update={"content": "# fake: rejected late-work\n"})
    return candidate.model_copy(
        update={"solution": candidate.solution.model_copy(update={"sources": (source,)})}
    )


def test_a_submission_is_written_and_verifies(tmp_path, monkeypatch):
    submitted = Bench(tmp_path, monkeypatch, ["accepted 3", "accepted 2"]).begin()
    assert verify(submitted.folder) == ()
    assert submitted.folder.is_relative_to(tmp_path / "submissions" / "draft")
    assert submitted.performance == "performance: not measured on the target"
    solution = json.loads((submitted.folder / "solution.json").read_text())
    assert solution["definition"] == "doubling"


def test_the_champion_is_judged_again_and_the_next_best_is_taken_when_it_fails(tmp_path, monkeypatch):
    bench = Bench(tmp_path, monkeypatch, ["accepted 3", "accepted 1 fragile"], device="cuda")
    submitted = bench.begin()
    assert submitted.strategy == "accepted 3"
    finals = [judged for judged in bench.judged if judged.startswith("final")]
    assert finals[:2] == ["final accepted 1 fragile", "final accepted 3"]


def on_an_h200(candidate: Candidate, protocol) -> Verdict:
    return fake_judge(TASK, candidate, protocol, GPU.model_copy(update={"device": "NVIDIA H200"}))


def test_what_must_not_ship_for_the_target_is_passed_over_and_the_report_says_so(tmp_path, monkeypatch):
    bench = Bench(tmp_path, monkeypatch, ["accepted 3", "accepted 1 unfit"], device="cuda", judge=on_an_h200)
    submitted = bench.begin()
    assert submitted.strategy == "accepted 3"
    text = (submitted.folder / "REPORT.md").read_text()
    assert "- passed over: cannot package " in text
    assert "it does not compile for sm_100a" in text
    assert verify(submitted.folder) == ()
    assert bench.resume().folder == submitted.folder


def test_where_nothing_may_ship_there_is_nothing_to_submit(tmp_path, monkeypatch):
    bench = Bench(
        tmp_path, monkeypatch, ["accepted 1 unfit", "accepted 2 unfit"], device="cuda", judge=on_an_h200
    )
    assert bench.begin() is None
    notes = [
        event.text for event in read_events(bench.run.folder / "journal.jsonl")[1] if event.event == "note"
    ]
    assert len(notes) == 2
    assert all("cannot package" in note for note in notes)
    assert not (tmp_path / "submissions").exists()


def test_with_nothing_accepted_there_is_nothing_to_submit(tmp_path, monkeypatch):
    bench = Bench(tmp_path, monkeypatch, ["rejected numerical", "rejected runtime"])
    assert bench.begin() is None
    assert not (tmp_path / "submissions").exists()


def test_a_resumed_submission_judges_nothing_again_and_is_the_same_to_the_byte(tmp_path, monkeypatch):
    bench = Bench(tmp_path, monkeypatch, ["accepted 3", "accepted 2"])
    first = bench.begin()
    content = {file.name: file.read_bytes() for file in first.folder.iterdir()}
    bench.judged.clear()
    shutil.rmtree(first.folder)
    again = bench.resume()
    assert bench.judged == []
    assert {file.name: file.read_bytes() for file in again.folder.iterdir()} == content


def test_a_guard_that_breaks_in_the_final_leaves_a_run_that_can_go_on(tmp_path, monkeypatch):
    bench = Bench(tmp_path, monkeypatch, ["accepted 3"])
    bench._judge = lambda candidate, protocol: (
        bench._fake(candidate, protocol) if protocol.name == "search" else broken()
    )
    with pytest.raises(GuardBroken):
        bench.begin()
    bench._judge = bench._fake
    bench.judged.clear()
    assert verify(bench.resume().folder) == ()
    assert bench.judged == ["final accepted 3"]


def broken() -> Verdict:
    raise GuardBroken("the driver hangs")


def test_recorded_verdicts_stand_in_for_a_gpu(tmp_path, monkeypatch):
    behaviours = ["accepted 3", "accepted 2", "rejected runtime"]
    recorded = Bench(tmp_path / "gpu", monkeypatch, behaviours, device="cuda")
    first = recorded.begin()
    judge = replay([recorded.run.folder])
    second = Bench(tmp_path / "desk", monkeypatch, behaviours, device="cuda", judge=judge).begin()
    assert second.candidate == first.candidate


def test_a_replay_knows_nothing_that_was_not_recorded(tmp_path, monkeypatch):
    recorded = Bench(tmp_path / "gpu", monkeypatch, ["accepted 3"])
    recorded.begin()
    judge = replay([recorded.run.folder])
    with pytest.raises(GuardBroken, match="no recorded verdict"):
        Bench(tmp_path / "desk", monkeypatch, ["accepted 4"], judge=judge).begin()


def test_the_journal_tells_the_whole_story(tmp_path, monkeypatch):
    bench = Bench(tmp_path, monkeypatch, ["accepted 3", "rejected runtime"])
    bench.begin()
    events = [event.event for event in read_events(bench.run.folder / "journal.jsonl")[1]]
    search = ["asked", "judged", "asked", "judged", "conclusion", "searched"]
    assert events == [*search, "final", "champion", "finished"]


def test_the_command_in_the_evidence_makes_the_same_search_again(tmp_path, monkeypatch):
    bench = Bench(tmp_path, monkeypatch, ["accepted 3"])
    bench.begin()
    assert command_of(bench.run) == (
        "kernelarc submit doubling --budget 5 --agents listed --seed 0 --device cpu --target B200 "
        "--precision tolerance --inputs auto"
    )


def test_a_resumed_run_writes_where_it_is_told(tmp_path, monkeypatch):
    bench = Bench(tmp_path, monkeypatch, ["accepted 3"])
    first = bench.begin()
    elsewhere = bench.resume(tmp_path / "elsewhere")
    assert elsewhere.folder.is_relative_to(tmp_path / "elsewhere") and verify(elsewhere.folder) == ()
    assert elsewhere.digest == first.digest
