"""The definition's own code, executed once: `run` and, where there is one, the function that makes inputs."""

import linecache
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import torch

from tasks.definition import Definition
from tasks.errors import TaskError

CustomInputs = Callable[[dict[str, int | float | bool], torch.device], Mapping[str, Any]]


class Reference:
    """One namespace for both functions, so that what they share (caches, constants) is shared.

    `run(*inputs)` returns the outputs. `custom(axes_and_scalars, device)` returns inputs by name, or is
    `None` when the definition names no such function.
    """

    def __init__(self, module: ModuleType, custom_name: str | None) -> None:
        self.module = module
        self.run: Callable[..., Any] = module.__dict__["run"]
        self.custom: CustomInputs | None = module.__dict__.get(custom_name) if custom_name else None


def load_reference(definition: Definition) -> Reference:
    """Execute `definition.reference`; `TaskError` when it does not run through.

    The source is registered with `linecache` under its own file name: tracebacks show its lines, and
    `inspect.getsource`, on which triton.jit and torch.compile depend, finds it without a file on disk.
    """
    name = f"reference_{definition.digest[:12]}"
    file = f"<{definition.name} {name}.py>"
    lines = definition.reference.splitlines(keepends=True)
    linecache.cache[file] = (len(definition.reference), None, lines, file)
    module = ModuleType(name)
    module.__file__ = file
    try:
        exec(compile(definition.reference, file, "exec"), module.__dict__)
    except Exception as error:  # foreign code may raise anything
        raise TaskError(
            f"the reference does not run: {type(error).__name__}: {error}",
            file=definition.name, field="reference", mend="it must import here without error",
        ) from error  # fmt: skip
    return Reference(module, definition.custom_inputs_entrypoint)
