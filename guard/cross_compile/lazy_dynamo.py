"""Keeps torch._dynamo unloaded until something really asks for it.

Functions that torch marks "not for dynamo", among them every shape rule written in Python, import it at their
first call only to be told that they are not compiled: some 2 of the 5 seconds that a small candidate takes.
"""

import importlib
import sys
from types import ModuleType
from typing import Any

_NAME = "torch._dynamo"


class _Stand(ModuleType):
    """Answers `disable` itself, and becomes the real module at any other question."""

    @staticmethod
    def disable(function: Any = None, *_: Any, **__: Any) -> Any:
        return _unchanged if function is None else function

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":  # `inspect` asks every module for such names
            raise AttributeError(name)
        if sys.modules.get(_NAME) is self:
            del sys.modules[_NAME]
        return getattr(importlib.import_module(_NAME), name)


def _unchanged(function: Any) -> Any:
    return function


def put_off_dynamo() -> None:
    """Does nothing where it is loaded already."""
    if _NAME not in sys.modules:
        sys.modules[_NAME] = _Stand(_NAME)
