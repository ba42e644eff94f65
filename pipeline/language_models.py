"""The language model of a run: its endpoint or command by the settings, with every call kept in the run's folder."""

import shlex
import shutil
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pipeline.run_folder import Run
from pipeline.settings import OF_A_MODEL, Settings
from tasks.errors import TaskError

if TYPE_CHECKING:
    from agents.language_model import Model

MODEL_AGENT = "model"
CALLS = "calls"


def has_model(settings: Settings) -> bool:
    return settings.model is not None or settings.model_command is not None


def expect_used(given: Mapping[str, Any], settings: Settings) -> None:
    """`TaskError` for what the command line says of a model that takes no part: it would be dropped silently.

    A settings file may name a model for other runs than this one, so only what is `given` counts.
    """
    options = [option for option in OF_A_MODEL if given.get(option) is not None]
    field = f"--{options[0].replace('_', '-')}" if options else ""
    if options and not has_model(settings):
        mend = "name it by --model, or leave this out"
        raise TaskError("is of a language model, and none is named", field=field, mend=mend)
    if options and settings.agents and MODEL_AGENT not in settings.agents:
        raise TaskError(
            f"is of a language model, which is not among the agents {', '.join(settings.agents)}",
            field=field,
            mend=f"add `{MODEL_AGENT}` to --agents, or leave this out",
        )


def expect_startable(settings: Settings) -> None:
    """`TaskError` for a command that is not there, which every proposal would fail by."""
    if settings.model_command is None:
        return
    program = shlex.split(settings.model_command)[0]
    # it is run in a folder of its own, from where a relative path leads elsewhere
    if shutil.which(program) is None or ("/" in program and not program.startswith("/")):
        raise TaskError(
            f"{program!r} is no program that can be started",
            field="--model-command",
            mend="name one that is on the PATH, or give its whole path",
        )


def model_name(settings: Settings) -> str:
    """What is written into requests."""
    return settings.model or settings.model_command or ""


def recorded_model(run: Run, again: bool) -> "Model":
    """What is on record is not asked for twice; `again`: nothing is asked for at all."""
    from agents.language_model.recording import Recorded

    return Recorded(run.folder / CALLS, None if again else _model(run))


def by_values(model: "Model") -> Callable[[dict[str, Any]], dict[str, Any]]:
    """For a proposer in another process, whose requests are anybody's: they are read before they are sent."""
    from agents.language_model import Request

    return lambda request: model(Request.model_validate(request)).model_dump(mode="json")


def _model(run: Run) -> "Model | None":
    from agents.language_model.call import Prices
    from agents.language_model.command import Command
    from agents.language_model.endpoint import Endpoint

    settings = run.header.settings
    prices = Prices(per_million_in=settings.price_in, per_million_out=settings.price_out)
    if settings.model_command is not None:
        arguments = tuple(shlex.split(settings.model_command))
        return Command(arguments, run.folder / "agents" / "scratch", prices, settings.model_limit_s)
    return Endpoint(settings.base_url, prices, settings.model_limit_s) if settings.model else None
