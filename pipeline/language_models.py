"""The language model of a run: its endpoint or command by the settings, with every call kept in the run's folder."""

import shlex
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pipeline.run_folder import Run
from pipeline.settings import Settings

if TYPE_CHECKING:
    from agents.language_model import Model

MODEL_AGENT = "model"
CALLS = "calls"


def has_model(settings: Settings) -> bool:
    return settings.model is not None or settings.model_command is not None


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
