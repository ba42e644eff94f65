"""Beginning a run, and going on with one: the same task, device, agents and settings, or none at all."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from guard.errors import GuardBroken
from pipeline.device import Chosen, choose_device
from pipeline.failure import Interrupted
from pipeline.journal import Event
from pipeline.judging import Judging, open_judging
from pipeline.language_models import MODEL_AGENT, expect_startable, has_model
from pipeline.prepare import announce, load, prepare, prepare_task
from pipeline.progress import Progress, Silent
from pipeline.run_folder import Header, Run
from pipeline.settings import Device, Settings
from pipeline.warm_start import starts_for
from submissions.write import ROOT, expect_writable
from tasks.errors import TaskError


@contextmanager
def begin(
    command: Literal["search", "submit"], settings: Settings, name: str, progress: Progress
) -> Iterator[tuple[Run, Judging]]:
    """A new run in a folder of its own; its header says all that is needed to go on with it."""
    taking_part = _agents(settings)
    if MODEL_AGENT in taking_part:
        expect_startable(settings)
    if command == "submit":
        expect_writable(settings.out or ROOT, "--out")
    expect_writable(settings.runs, "--runs")
    device = _device(settings, settings.device)
    task = load(settings, name)
    starts = starts_for(settings, task, progress) if "template" in taking_part else {}
    prepared = prepare_task(settings, task, device, progress)
    header = Header(
        command=command,
        task=prepared.asked.name,
        task_digest=prepared.judged.digest,
        device=device,
        agents=taking_part,
        budget=settings.budget_on(device),
        settings=settings.model_copy(update={"device": device}),
        starts=starts,
    )
    with (
        open_judging(settings, prepared, device, progress) as judging,
        Run.create(settings.runs, header) as run,
        _resumable(run, progress),
    ):
        progress.note(f"journal: {run.folder}")
        yield run, judging


@contextmanager
def go_on(folder: Path, progress: Progress) -> Iterator[tuple[Run, Judging]]:
    """An old run. Raises `TaskError` when its task has changed, `GuardBroken` without its device."""
    with Run.open(folder) as run:
        header = run.header
        _known(header.agents)
        if _device(header.settings, header.device) != header.device:
            raise GuardBroken(f"the run was begun on {header.device}, which is not here")
        prepared = prepare(header.settings, header.task, header.device, Silent())
        if prepared.judged.digest != header.task_digest:
            raise TaskError(
                f"the task {header.task!r} has changed since the run was begun",
                file=folder,
                field="task_digest",
                mend="begin a new run",
            )
        announce(prepared, progress)
        with (
            open_judging(header.settings, prepared, header.device, progress) as judging,
            _resumable(run, progress),
        ):
            yield run, judging


def _device(settings: Settings, wanted: Device) -> Chosen:
    """Of this machine, or of the nodes that judge in its place."""
    if settings.cluster is None:
        return choose_device(wanted)
    from pipeline.cluster.lane import device_at

    return device_at(settings.cluster, wanted)


@contextmanager
def _resumable(run: Run, progress: Progress) -> Iterator[None]:
    """Whatever stops a run is noted in it, where there is room, and the way on is said."""
    again = f"kernelarc resume {run.folder}"
    try:
        yield
    except KeyboardInterrupt:
        run.journal.append(Event(event="note", text="stopped by hand"))
        raise Interrupted(again) from None
    except (GuardBroken, TaskError, OSError):
        progress.note(f"the run is kept; `{again}` goes on from here")
        raise


def _agents(settings: Settings) -> tuple[str, ...]:
    """The agents of a run, in the order of the registry. Raises `TaskError` for a name there is not."""
    from agents import AGENTS

    _known(settings.agents)
    taking_part = [*AGENTS, MODEL_AGENT] if has_model(settings) else list(AGENTS)
    missing = [name for name in settings.agents if name not in taking_part]
    if missing:
        raise TaskError(
            f"the agent {missing[0]!r} needs a language model",
            field="--agents",
            mend="name one by --model, or a command by --model-command",
        )
    return tuple(name for name in taking_part if not settings.agents or name in settings.agents)


def _known(names: Sequence[str]) -> None:
    from agents import AGENTS

    unknown = [name for name in names if name not in (*AGENTS, MODEL_AGENT)]
    if unknown:
        raise TaskError(
            f"there is no agent {unknown[0]!r}", field="--agents", mend=f"the agents are {', '.join(AGENTS)}"
        )
