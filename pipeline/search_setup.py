"""A search put together from a run's settings: its agents, its memory, its budget and its policy."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import agents
from pipeline.blackboard import Retention, open_board
from pipeline.judging import HARDWARE, Judging
from pipeline.language_models import MODEL_AGENT, by_values, model_name, recorded_model
from pipeline.plateau import Plateau
from pipeline.policy import Policy, Rounds
from pipeline.policy.context import bound_of
from pipeline.policy.controller import Controller
from pipeline.progress import Progress
from pipeline.proposing import Inside, Proposer
from pipeline.proposing.apart import Apart
from pipeline.protocols import protocol_for
from pipeline.run_folder import Header, Run
from pipeline.search import Search
from pipeline.settings import Settings
from tasks.gpu import load_gpu
from tasks.solution import Hardware

if TYPE_CHECKING:
    from agents.base import Agent
    from agents.language_model import Model
    from tasks.task import Task

BLACKBOARD = "blackboard.sqlite"


@contextmanager
def open_search(run: Run, judging: Judging, progress: Progress, again: bool = False) -> Iterator[Search]:
    """The search of `run`. `again`: played over what was recorded, so in this process and leaving nothing."""
    settings, asked = run.header.settings, judging.prepared.asked
    protocol = protocol_for("search", judging.device, judging.settings, judging.prepared.judged)
    with ExitStack() as closing:
        proposers = _proposers(run, asked, closing, again)
        url = settings.blackboard or f"sqlite:///{run.folder.resolve() / BLACKBOARD}"
        yield Search(
            run=run,
            judge=lambda candidate: judging.outcome(candidate, protocol),
            progress=progress,
            by_measurement=judging.by_measurement,
            agents=proposers,
            task=asked,
            board=None if again else closing.enter_context(open_board(url, run.folder.name, asked.name)),
            policy=_policy(run, judging),
            plateau=Plateau(patience=settings.patience, drafting=settings.policy == "controller"),
            retention=Retention.parse(settings.memory),
            caps=caps_of(settings),
            lookahead=max(1, settings.workers),
        )


def _policy(run: Run, judging: Judging) -> Policy:
    settings, names = run.header.settings, run.header.agents
    if settings.policy == "rounds":
        return Rounds(names)
    return Controller(
        agents=names,
        seed=settings.seed,
        bound=bound_of(judging.prepared.asked),
        capability=load_gpu(HARDWARE[settings.target]).capability,
        precision=settings.precision,
        free={MODEL_AGENT},
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


def _proposers(run: Run, task: "Task", closing: ExitStack, again: bool) -> dict[str, Proposer]:
    """In this process, or, where several propose at a time, each in one of its own with a folder of its own."""
    settings, model = run.header.settings, recorded_model(run, again)
    if again or settings.workers == 0:
        return {name: Inside(name, _agent(name, task, run.header, model), task) for name in run.header.agents}
    apart: dict[str, Proposer] = {}
    for name in run.header.agents:
        apart[name] = Apart(
            name,
            task,
            run.folder / "agents" / name,
            seed=settings.seed,
            target=settings.target,
            model=by_values(model) if name == MODEL_AGENT else None,
            model_name=model_name(settings),
            starts=run.header.starts,
        )
        closing.callback(apart[name].close)
    return apart


def _agent(name: str, task: "Task", header: Header, model: "Model") -> "Agent":
    settings = header.settings
    if name != MODEL_AGENT:
        return agents.create(name, task, settings.seed, target=settings.target, starts=header.starts)
    from agents.language_model import LanguageModelAgent

    return LanguageModelAgent(
        task, settings.seed, target=Hardware(settings.target), model=model, model_name=model_name(settings)
    )
