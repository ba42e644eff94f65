"""`judge`: is this candidate right, is it fast, and how sure are we."""

from collections.abc import Callable

from guard.protocol import Protocol
from guard.session import Session
from guard.verdict import Verdict
from tasks.candidate import Candidate
from tasks.task import Task

Progress = Callable[[str], None]


def judge(
    task: Task, candidate: Candidate, protocol: Protocol, session: Session, progress: Progress | None = None
) -> Verdict:
    """The verdict on `candidate`. Raises `GuardBroken` when none is possible, `TaskError` when the task is at fault.

    `session` keeps what may be kept between candidates (inputs, expected values, builds, the pre-imported
    zygote) and holds the device. What does not fit in memory or cannot run here is `GuardBroken`.
    """
    raise NotImplementedError
