"""What every agent must keep to, as tests to inherit:

class TestMyAgent(AgentContract):
    def make(self) -> Agent:
        return MyAgent(the_task(), seed=0)

    def task(self) -> Task:
        return the_task()
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from agents.base import Agent
from guard.verdict import Environment, Reason, ReasonCode, Verdict, WorkloadVerdict
from tasks.candidate import Candidate
from tasks.task import Task
from tasks.trace import Status

MOST_ASKED = 40
"""Asks in one test; an agent may have far more to say."""


def accepted(task: Task, candidate: Candidate, ms: float | None = 1.0, gpu: bool = True) -> Verdict:
    """A verdict that accepts, every workload having taken `ms`."""
    return _verdict(task, candidate, Status.PASSED, ms, gpu, None)


def rejected(task: Task, candidate: Candidate, code: ReasonCode, gpu: bool = True) -> Verdict:
    return _verdict(
        task, candidate, Status.RUNTIME_ERROR, None, gpu, Reason(code=code, message="by the test")
    )


def _verdict(
    task: Task, candidate: Candidate, status: Status, ms: float | None, gpu: bool, reason: Reason | None
) -> Verdict:
    workloads = tuple(
        WorkloadVerdict(
            uuid=workload.uuid,
            axes=workload.axes,
            status=status,
            accepted=reason is None,
            latency_ms=ms,
            timer=None if ms is None else "cupti" if gpu else "wall",
        )
        for workload in task.workloads
    )
    return Verdict(
        task=task.name,
        task_digest=task.digest,
        candidate_digest=candidate.digest,
        status="accepted" if reason is None else "rejected",
        reason=reason,
        workloads=workloads,
        environment=Environment(device="test", kind="cuda" if gpu else "cpu"),
        protocol="search",
        protocol_digest="0" * 64,
    )


class AgentContract:
    def make(self) -> Agent:
        """A new agent for `task`, always with the same seed."""
        raise NotImplementedError

    def task(self) -> Task:
        raise NotImplementedError

    def test_every_candidate_is_a_solution_of_the_task(self) -> None:
        task, agent = self.task(), self.make()
        for candidate in self._asked(agent):
            solution = candidate.solution
            assert candidate.definition_digest == task.definition.digest
            assert solution.definition == task.definition.name
            assert candidate.agent == agent.name
            assert solution.name.endswith(f"-{agent.name}-{candidate.digest[:8]}")
            assert candidate.strategy
            assert solution.description == candidate.strategy
            for source in solution.sources:
                compile(source.content, source.path, "exec", dont_inherit=True)

    def test_no_candidate_is_asked_for_twice(self) -> None:
        digests = [candidate.digest for candidate in self._asked(self.make())]
        assert digests, "the agent proposes nothing for the task of its contract"
        assert len(digests) == len(set(digests))

    def test_the_same_verdicts_bring_the_same_candidates(self) -> None:
        assert [c.digest for c in self._asked(self.make())] == [c.digest for c in self._asked(self.make())]

    def test_asking_without_telling_works_too(self) -> None:
        agent = self.make()
        candidates = [candidate for _ in range(MOST_ASKED) if (candidate := agent.ask()) is not None]
        assert len({candidate.digest for candidate in candidates}) == len(candidates)

    def test_any_verdict_may_be_told(self) -> None:
        task = self.task()
        for code in ReasonCode:
            agent = self.make()
            for _ in range(3):
                candidate = agent.ask()
                if candidate is not None:
                    agent.tell(candidate, rejected(task, candidate, code))
        for ms in (None, 0.0, 1.0, float("inf")):
            for gpu in (True, False):
                agent = self.make()
                for predicted in (None, 0.5):
                    candidate = agent.ask()
                    if candidate is not None:
                        agent.tell(candidate, accepted(task, candidate, ms, gpu), predicted_ms=predicted)

    def test_another_agents_candidate_may_be_told_and_one_may_be_told_twice(self) -> None:
        task, agent = self.task(), self.make()
        candidate = agent.ask()
        assert candidate is not None
        spec = candidate.solution.spec.model_copy(update={"dependencies": ("torch",)})
        foreign = candidate.model_copy(
            update={"solution": candidate.solution.model_copy(update={"spec": spec}), "agent": "other"}
        )
        agent.tell(foreign, accepted(task, foreign))
        agent.tell(candidate, accepted(task, candidate))
        agent.tell(candidate, accepted(task, candidate))

    def test_an_exhausted_agent_stays_exhausted(self) -> None:
        agent = self.make()
        if len(list(self._asked(agent))) < MOST_ASKED:
            assert [agent.ask() for _ in range(3)] == [None, None, None]

    def test_nothing_is_written_to_disk(self) -> None:
        list(self._asked(self.make()))  # what is imported late may be compiled and cached on the first run
        with _recorded_writes() as writes:
            list(self._asked(self.make()))
        assert writes == []

    def _asked(self, agent: Agent) -> Iterator[Candidate]:
        """Candidates with verdicts in between: most accepted, with times that differ, every fourth rejected."""
        task = self.task()
        for turn in range(MOST_ASKED):
            candidate = agent.ask()
            if candidate is None:
                return
            yield candidate
            if turn % 4 == 3:
                agent.tell(candidate, rejected(task, candidate, ReasonCode.NUMERICAL))
            else:
                ms = 1.0 + int(candidate.digest[:4], 16) / 65536
                agent.tell(candidate, accepted(task, candidate, ms))


_recordings: list[list[str]] = []
_WRITING_EVENTS = frozenset(
    {"os.mkdir", "os.rename", "os.remove", "os.link", "os.symlink", "subprocess.Popen"}
)
_is_listening = False


@contextmanager
def _recorded_writes() -> Iterator[list[str]]:
    """The files written and processes started inside, as the interpreter reports them."""
    global _is_listening
    if not _is_listening:
        sys.addaudithook(_listen)
        _is_listening = True
    writes: list[str] = []
    _recordings.append(writes)
    try:
        yield writes
    finally:
        _recordings.remove(writes)


def _listen(event: str, args: tuple[object, ...]) -> None:
    if not _recordings:
        return
    if event in _WRITING_EVENTS or (event == "open" and _opens_to_write(args)):
        for writes in _recordings:
            writes.append(f"{event} {args[0]!r}")


def _opens_to_write(args: tuple[object, ...]) -> bool:
    flags = args[2] if len(args) > 2 else 0
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
