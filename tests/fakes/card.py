"""A GPU that is made up: an H200 that accepts every candidate, and takes with it what it took before."""

from pathlib import Path

import pytest

import guard.environment
import guard.judge
import guard.session
import pipeline.freeze
import pipeline.recheck
import pipeline.regress
import pipeline.sentinels
from guard.protocol import Protocol
from guard.verdict import Reason, ReasonCode, Verdict
from tasks.candidate import Candidate
from tasks.task import Task
from tests.leaderboard.snapshots import H200, verdict_on


class Card:
    """One H200 on which everything takes what it took, but for what `slower` says."""

    def __init__(self) -> None:
        self.environment, self.seed = H200, 0
        self.slower: dict[str, float] = {}
        self.rejects, self.spread = False, 0.002
        self.judged: list[tuple[str, int]] = []

    def __call__(
        self, task: Task, judged: Candidate, protocol: Protocol, session: object, note: object = None
    ) -> Verdict:
        self.seed += 1
        self.judged.append((task.name, protocol.processes))
        # times drawn here rise with a workload's place, which is another one where only some are judged
        factor = self.slower.get(task.name, 1.0)
        slower = {w.uuid: factor / (place + 1) for place, w in enumerate(task.workloads)}
        verdict = verdict_on(
            task, judged, seed=self.seed, slower=slower, spread=self.spread, environment=self.environment,
            protocol=protocol,
        )  # fmt: skip
        if not self.rejects:
            return verdict
        reason = Reason(code=ReasonCode.NUMERICAL, message="not as the reference")
        return verdict.model_copy(update={"status": "rejected", "reason": reason})


class NoSession:
    def __init__(self, *_: object, **__: object) -> None: ...
    def __enter__(self) -> "NoSession":
        return self

    def __exit__(self, *_: object) -> None: ...


def a_card(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Card:
    """The only device there is, for commands that are called in `folder`."""
    made = Card()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("SOL_EXECBENCH_DATA", raising=False)
    monkeypatch.setattr(guard.session, "Session", NoSession)
    monkeypatch.setattr(guard.judge, "judge", made)
    monkeypatch.setattr(guard.environment, "gpu_architecture", lambda: "9.0")
    for module in (pipeline.freeze, pipeline.recheck, pipeline.regress, pipeline.sentinels):
        monkeypatch.setattr(module, "choose_device", lambda _: "cuda")
    for module in (pipeline.recheck, pipeline.regress):
        monkeypatch.setattr(module, "environment_here", lambda _: made.environment)
    return made
