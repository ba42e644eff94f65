"""Settings, read once: command line, then environment, then `kernelarc.toml` or `.yaml`, then defaults."""

import difflib
import os
import re
import reprlib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, field_validator

from guard.verdict import PrecisionPolicy
from pipeline.settings_file import keys_in, settings_file
from tasks.errors import TaskError
from tasks.value import Value

Device = Literal["auto", "cpu", "cuda"]
Inputs = Literal["recorded", "auto", "synthetic"]
Target = Literal["B200", "LOCAL"]
ProtocolName = Literal["smoke", "search", "final"]

PREFIX = "KERNELARC_"
LISTS = {"data": os.pathsep, "agents": ",", "warm_start": os.pathsep}
"""The settings that hold several values, and what parts them in one text."""
OF_A_MODEL = ("model", "base_url", "model_command", "price_in", "price_out")
"""What is said of a language model, and of nothing else."""


class Settings(Value):
    """Everything a person may choose. `None` and `()` mean: choose by the machine, or all."""

    data: tuple[Path, ...] = ()
    """Data-set roots, searched in order; none: those of `$SOL_EXECBENCH_DATA`."""
    device: Device = "auto"
    budget: int | None = Field(default=None, ge=1, le=100_000)
    """Candidates judged in a search, over all agents."""
    agents: tuple[str, ...] = ()
    seed: int = Field(default=0, ge=0, lt=2**32)
    protocol: ProtocolName = "search"
    precision: PrecisionPolicy = "tolerance"
    inputs: Inputs = "auto"
    target: Target = "B200"
    build_limit_s: float = Field(default=120.0, gt=0, allow_inf_nan=False)
    evaluation_limit_s: float = Field(default=600.0, gt=0, allow_inf_nan=False)
    host_memory_gib: float = Field(default=8.0, gt=0, allow_inf_nan=False)
    memory: str = "fifo"
    """What agents are shown of what was concluded: `none`, `fifo[:N]`, `top[:N]` or `all`."""
    workers: int = Field(default=0, ge=0, le=64)
    """Proposals made at a time, each agent in a process of its own; 0: one, in the search's own process."""
    policy: Literal["rounds", "controller"] = "rounds"
    """Who is asked next: everybody in turn, or whoever has brought most for its cost, with drafts at a plateau."""
    patience: int | None = Field(default=None, ge=1)
    """Candidates in a row that may bring nothing before a search stops; none: it never stops for that."""
    model: str | None = None
    """A language model takes part by this name; its key stands in the environment, `OPENAI_API_KEY`, alone."""
    base_url: str | None = None
    """Of an endpoint that speaks the OpenAI protocol; none: the library's own."""
    model_command: str | None = None
    """A coding command that takes part in its place: it reads the prompt on stdin, and prints or writes code."""
    price_in: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """Dollars for a million tokens read."""
    price_out: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """And for a million tokens written."""
    model_limit_s: float = Field(default=300.0, gt=0, allow_inf_nan=False)
    """For one reply."""
    max_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Of judging, by the clock on the wall."""
    max_gpu_seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_tokens: int | None = Field(default=None, ge=1)
    """Written by language models, over the whole search."""
    max_dollars: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    blackboard: str | None = None
    """A SQLAlchemy address; none: a file in the run's folder."""
    cluster: str | None = None
    """Where candidates are judged: a Dask scheduler's address, or `local[:N]`; none: in this process."""
    warm_start: tuple[Path, ...] = ()
    """Recorded landscapes (files or folders) and runs, from which the first settings of templates are predicted."""
    runs: Path = Path("runs")
    """Folder in which a search keeps its journal."""
    out: Path | None = None
    """Folder a submission is written to; none: `submissions/ready` or `submissions/draft`."""

    @field_validator("*", mode="before")
    @classmethod
    def _says_something(cls, value: Any) -> Any:
        if isinstance(value, bool):  # pydantic would read true as 1
            raise ValueError("no setting is a yes or a no")
        each = value if isinstance(value, tuple | list) else (value,)
        if any(isinstance(one, str) and not one.strip() for one in each):
            raise ValueError("something should stand there")
        return value

    @field_validator("memory")
    @classmethod
    def _is_a_retention(cls, value: str) -> str:
        if not re.fullmatch(r"none|all|(fifo|top)(:[1-9]\d{0,8})?", value):
            raise ValueError("should be none, fifo, fifo:N, top, top:N or all")
        return value

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, value: str | None) -> str | None:
        if value is not None and not _is_url(value):
            raise ValueError("should be http://HOST[:PORT][/PATH] or https://...")
        return value

    @field_validator("model_command")
    @classmethod
    def _is_a_command(cls, value: str | None) -> str | None:
        try:
            shlex.split(value or "")
        except ValueError as error:  # a quotation that is not closed
            raise ValueError(f"should be a command as a shell reads it ({error})") from None
        return value

    @field_validator("data", "warm_start", "runs", "out")
    @classmethod
    def _can_be_a_path(cls, value: tuple[Path, ...] | Path | None) -> tuple[Path, ...] | Path | None:
        for path in value if isinstance(value, tuple) else (value,):
            if path is not None and "\0" in str(path):
                raise ValueError("no path holds a zero byte")
        return value

    def budget_on(self, device: str) -> int:
        """Judging is dear on a CPU (Triton runs in its interpreter), so the default is small there."""
        return self.budget if self.budget is not None else (60 if device == "cuda" else 8)


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        _ = parts.port  # `ValueError` for what is no port
    except ValueError:
        return False
    bare = text.isprintable() and " " not in text
    return bare and parts.scheme in ("http", "https") and bool(parts.hostname)


_DEFAULTS = {
    "budget": "8 on a CPU and 60 on a GPU", "data": "$SOL_EXECBENCH_DATA", "agents": "all of them",
    "out": "submissions", "warm_start": "nothing", "runs": "runs", "patience": "to go on to the budget's end",
    "max_seconds": "no limit", "max_gpu_seconds": "no limit", "max_tokens": "no limit", "max_dollars": "no limit",
    "model": "no language model", "model_command": "no language model", "base_url": "the library's own",
    "blackboard": "a file in the run's folder", "cluster": "to judge in this process",
}  # fmt: skip
"""In words, where the value itself only says that the machine, or everything, decides."""


def read_settings(
    given: Mapping[str, Any], environment: Mapping[str, str] | None = None, folder: Path | None = None
) -> Settings:
    """The settings of one command. `given` holds what stood on the command line; None is "not given".

    Raises `TaskError` naming the file (or the variable, or the option), the key and the mend.
    """
    variables = os.environ if environment is None else environment
    layers = (
        {key: (value, None, key) for key, value in _from_file(folder or Path.cwd()).items()},
        _from_environment(variables),
        {key: (value, "", f"--{key.replace('_', '-')}") for key, value in given.items() if value is not None},
    )
    merged: dict[str, tuple[Any, str | None, str]] = {}
    for layer in layers:
        merged.update(layer)
    settings = _validated(merged, folder or Path.cwd())
    if any(given.get(option) is not None for option in OF_A_MODEL):
        from pipeline.language_models import expect_used

        expect_used(given, settings)
    return settings


def _validated(merged: Mapping[str, tuple[Any, str | None, str]], folder: Path) -> Settings:
    values = {key: _parted(key, value) for key, (value, _, _) in merged.items()}
    if values.get("agents") in ((), []):  # nobody means "everybody" by that
        raise _no_agents(*merged["agents"][1:], folder)
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        key = str(first["loc"][0])
        _, place, field = merged[key]
        file = settings_file(folder) if place is None else place or None
        said = first["msg"].removeprefix("Value error, ")
        raise TaskError(
            f"{said[0].lower()}{said[1:]}, not {_shown(values[key])}",
            file=file,
            field=field,
            mend=f"the default is {_DEFAULTS.get(key) or repr(Settings.model_fields[key].default)}",
        ) from None


def _no_agents(place: str | None, field: str, folder: Path) -> TaskError:
    from agents import AGENTS

    return TaskError(
        "names no agent",
        file=settings_file(folder) if place is None else place or None,
        field=field,
        mend=f"name some of {', '.join(AGENTS)}, or leave it out for all of them",
    )


_BRIEF = reprlib.Repr()
_BRIEF.maxstring = _BRIEF.maxother = 80


def _shown(value: Any) -> str:
    """As it was written, cut short; of what a file nests a few levels alone."""
    return str(value).lower() if isinstance(value, bool) else _BRIEF.repr(value)


def _parted(key: str, value: Any) -> Any:
    """A list written as one text, `a,b`, as the list it means."""
    if key in LISTS and isinstance(value, str):
        return tuple(part.strip() for part in value.split(LISTS[key]) if part.strip())
    return value


def _from_environment(variables: Mapping[str, str]) -> dict[str, tuple[Any, str | None, str]]:
    known = {PREFIX + key.upper(): key for key in Settings.model_fields}
    found: dict[str, tuple[Any, str | None, str]] = {}
    for variable, value in sorted(variables.items()):
        if variable in known:
            found[known[variable]] = (value, "environment", variable)
        elif variable.startswith(PREFIX) and (near := _nearest(variable.removeprefix(PREFIX).lower(), 0.75)):
            mend = f"perhaps {PREFIX}{near.upper()}"
            raise TaskError("no such setting", file="environment", field=variable, mend=mend)
    return found


def _nearest(key: str, cutoff: float = 0.6) -> str | None:
    return next(iter(difflib.get_close_matches(key, Settings.model_fields, 1, cutoff)), None)


def _from_file(folder: Path) -> dict[str, Any]:
    file = settings_file(folder)
    content = keys_in(file) if file is not None else {}
    for key in content:
        if key not in Settings.model_fields:
            near = _nearest(str(key))
            mend = f"perhaps {near}" if near else f"the settings are {', '.join(Settings.model_fields)}"
            raise TaskError("no such setting", file=file, field=str(key), mend=mend)
    return content
