"""What names stand for while a reference is performed."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any


class CannotPerform(Exception):
    """The reference says something that is not in the vocabulary, or does not work on these numbers."""


@dataclass
class Scope:
    names: dict[str, Any]
    outer: Scope | None = None

    def find(self, name: str) -> Any:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        raise CannotPerform(f"nothing is known of {name}")


@dataclass
class Function:
    node: ast.FunctionDef
    scope: Scope


@dataclass
class Path:
    """`torch.nn.functional`, as far as it was read."""

    text: str


@dataclass
class Method:
    base: Any
    name: str
