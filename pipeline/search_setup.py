"""A search put together from a run's settings: its agents, its memory, its budget and its policy."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import agents
from pipeline.blackboard import Retention, open_board
from pipeline.judging import Judging
from pipeline.plateau import Plateau
from pipeline.progress import Progress
from pipeline.proposing import Inside, Proposer
from pipeline.proposing.apart import Apart
from pipeline.protocols import protocol_for
from pipeline.run_folder import Run
from pipeline.search import Judge, Search
from pipeline.settings import Settings

if TYPE_CHECKING:
    from tasks.task import Task

BLACKBOARD = "blackboard.sqlite"


@contextmanager
def open_search(
    run: Run, judging: Judging, progress: Progress, judge: Judge | None = None
) -> Iterator[Search]:
    """The search of `run`; `judge` in place of the guard's, for replays."""
    settings, asked = run.header.settings, judging.prepared.asked
    protocol = protocol_for("search", judging.device, judging.settings, judging.prepared.judged)
    with ExitStack() as closing:
        proposers = _proposers(run, asked, closing)
        url = settings.blackboard or f"sqlite:///{run.folder.resolve() / BLACKBOARD}"
        yield Search(
            run=run,
            judge=judge or (lambda candidate: judging.outcome(candidate, protocol)),
            progress=progress,
            by_measurement=judging.by_measurement,
            agents=proposers,
            task=asked,
            board=closing.enter_context(open_board(url, run.folder.name, asked.name)),
            plateau=Plateau(patience=settings.patience, drafting=False),
            retention=Retention.parse(settings.memory),
            caps=caps_of(settings),
            lookahead=max(1, settings.workers),
        )


def caps_of(settings: Settings) -> dict[str, int]:
    """The limits that a person set, beside the number of candidates."""
    wanted = {
        "wall_us": settings.max_seconds,
        "gpu_us": settings.max_gpu_seconds,
        "money_micro": settings.max_dollars,
    }
    caps = {currency: int(limit * 1e6) for currency, limit in wanted.items() if limit is not None}
    if settings.max_tokens is not None:
        caps["tokens_out"] = settings.max_tokens
    return caps


def _proposers(run: Run, task: "Task", closing: ExitStack) -> dict[str, Proposer]:
    """In this process, or, where several propose at a time, each in one of its own with a folder of its own."""
    settings = run.header.settings
    if settings.workers == 0:
        return {
            name: Inside(name, agents.create(name, task, settings.seed, target=settings.target), task)
            for name in run.header.agents
        }
    apart: dict[str, Proposer] = {}
    for name in run.header.agents:
        folder = run.folder / "agents" / name.replace(":", ".")
        apart[name] = Apart(name, task, folder, seed=settings.seed, target=settings.target)
        closing.callback(apart[name].close)
    return apart
