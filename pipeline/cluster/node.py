"""What runs on a worker node: one guard session over its device, kept between candidates."""

import atexit
from collections.abc import Callable
from contextlib import ExitStack
from functools import lru_cache
from typing import Any, Literal, NamedTuple

from guard.errors import GuardBroken
from guard.protocol import Protocol
from guard.verdict import Verdict
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.task import Task

PREFIX = "kernelarc device: "
"""Of the resource that a worker offers one of: whoever asks for a kind of device gets no other."""
Inputs = Literal["recorded", "auto", "synthetic"]
JudgeHere = Callable[[Task, Candidate, Protocol, str, Inputs], Verdict]
_KEPT = ExitStack()
_SESSIONS: dict[tuple[str, str], Any] = {}


class Work(NamedTuple):
    """One evaluation, in texts: what crosses the network is what is kept on disk, and named by the same digests."""

    candidate: str
    protocol: str
    device: str
    """`cpu` or `cuda`."""
    inputs: Inputs


class Reply(NamedTuple):
    """A verdict, or why none was possible; nobody's candidate is to blame for the latter."""

    verdict: str = ""
    broken: str = ""
    task_fault: str = ""


def judge_here(task: str, work: Work, judge: JudgeHere) -> Reply:
    """Judge one candidate on this node. `task` is the JSON of the task as it is judged."""
    candidate = Candidate.model_validate_json(work.candidate)
    protocol = Protocol.model_validate_json(work.protocol)
    try:
        verdict = judge(_task(task), candidate, protocol, work.device, work.inputs)
    except GuardBroken as error:
        return Reply(broken=str(error))
    except TaskError as error:
        return Reply(task_fault=str(error))
    return Reply(verdict=verdict.model_dump_json())


def guarded(task: Task, candidate: Candidate, protocol: Protocol, device: str, inputs: Inputs) -> Verdict:
    """The guard's verdict, in the session that this node keeps until it ends."""
    from guard.judge import judge
    from guard.session import Session

    session = _SESSIONS.get((device, inputs))
    if session is None:
        if not _SESSIONS:
            atexit.register(_KEPT.close)
        session = _KEPT.enter_context(Session(device, inputs=inputs))  # type: ignore[arg-type]
        _SESSIONS[device, inputs] = session
    return judge(task, candidate, protocol, session)


def device_name(device: Literal["cpu", "cuda"]) -> str:
    """The name that verdicts of this machine bear."""
    from guard.environment import Watch

    with Watch(device) as watch:
        pass
    return watch.environment("none", {}).device


@lru_cache(maxsize=8)
def _task(text: str) -> Task:
    return Task.model_validate_json(text)
