"""The reference's own code, loaded so that its long loops need not be run in full."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from types import ModuleType
from typing import Any

from tasks.definition import Definition
from tasks.errors import TaskError


class Source:
    """`run`, the function that makes inputs (or `None`), and the file name that its frames carry."""

    def __init__(self, definition: Definition, loops: Callable[[ast.Module], dict[str, Any]]) -> None:
        """`loops` may rewrite the syntax tree, and returns names for the module to find."""
        self.file = f"<{definition.name} {definition.digest[:12]} graph>"
        lines = definition.reference.splitlines(keepends=True)
        linecache.cache[self.file] = (len(definition.reference), None, lines, self.file)
        module = ModuleType(f"reference_{definition.digest[:12]}")
        module.__file__ = self.file
        tree = ast.parse(definition.reference)
        module.__dict__.update(loops(tree))
        try:
            exec(compile(ast.fix_missing_locations(tree), self.file, "exec"), module.__dict__)
        except Exception as error:  # foreign code may raise anything
            raise TaskError(
                f"the reference does not run: {type(error).__name__}: {error}",
                file=definition.name, field="reference", mend="it must import here without error",
            ) from error  # fmt: skip
        custom = definition.custom_inputs_entrypoint
        self.run: Callable[..., Any] = module.__dict__["run"]
        self.custom: Callable[..., Any] | None = module.__dict__.get(custom) if custom else None
