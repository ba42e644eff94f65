"""The frozen sentinels taken on this card: what a driver check starts from, and ratios across cards need."""

import time
from collections.abc import Iterator, Sequence

from leaderboard.frozen.candidate import frozen_candidate
from leaderboard.frozen.kernel import frozen_kernel, sentinel_names, sentinel_task
from leaderboard.snapshot import Snapshot, take_snapshot
from pipeline.device import choose_device
from pipeline.freeze import submission_of
from pipeline.prepare import prepare_task
from pipeline.progress import Progress
from pipeline.protocols import protocol_for
from pipeline.settings import Settings
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.task import Task


def take_sentinels(
    settings: Settings, names: Sequence[str], progress: Progress, max_seconds: float | None = None
) -> Iterator[Snapshot]:
    """A snapshot of each that is named, or of all; one is not begun when the dearest so far would no longer fit.

    `TaskError` without a GPU, and on one that nothing was built for.
    """
    from guard.session import Session

    device = choose_device(settings.device)
    if device == "cpu":
        raise TaskError(
            "cannot run on a CPU", file="the sentinels", field="--device", mend="take them on a GPU"
        )
    chosen = names or sentinel_names()
    began, dearest = time.monotonic(), 0.0
    with Session(device, inputs=settings.inputs) as session:
        for name in chosen:
            started = time.monotonic()
            if max_seconds is not None and started - began + dearest > max_seconds:
                progress.note(f"{name} is left out: no time is left for it")
                continue
            candidate, task = sentinel_here(name)
            task = prepare_task(settings, task, device, progress).judged
            protocol = protocol_for("final", device, settings, task)
            progress.note(name)
            submission = submission_of(
                task, candidate, protocol, session, progress.note, f"kernelarc sentinels {name}"
            )
            yield take_snapshot(submission)
            dearest = max(dearest, time.monotonic() - started)


def sentinel_here(name: str, cycles: int = 0) -> tuple[Candidate, Task]:
    """The sentinel that was built for this GPU, and its task; with `cycles` one that waits so long, for tests."""
    from guard.environment import gpu_architecture

    kernel = frozen_kernel(name, f"sm_{gpu_architecture().replace('.', '')}a")
    task = sentinel_task(name)
    assert task is not None
    return frozen_candidate(kernel, task, cycles), task
