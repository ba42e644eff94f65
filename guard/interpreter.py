"""Triton's interpreter made quicker in a worker, without changing what it computes.

On a CPU it is what judging takes longest for. Three things in it cost a third of every call and say nothing of a
candidate: the language is patched anew for every device function that a kernel calls, a table of all types is built for
every look at one, and every addition of integers is made a second time in 64 bits, to see whether it overflows. A GPU
does not look either: Triton checks that in debug builds alone. Values that come out wrong are seen as on a GPU.
"""

import contextlib
import os
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any


def is_wanted(source: Path) -> bool:
    """Whether a candidate's files speak of Triton, in a process that interprets it."""
    if os.environ.get("TRITON_INTERPRET") != "1":
        return False
    return any("triton" in file.read_text(errors="replace") for file in source.rglob("*.py"))


def quicken() -> None:
    """For the process that is to run a candidate; whatever a version of Triton keeps elsewhere stays as it is."""
    with contextlib.suppress(ImportError, AttributeError, TypeError):
        interpreter = import_module("triton.runtime.interpreter")
        language = import_module("triton.language")
        interpreter.interpreter_builder.options = interpreter.InterpreterOptions(sanitize_overflow=False)
        _look_types_up(interpreter, language)
        _patch_once_a_launch(interpreter, language)


def _look_types_up(interpreter: Any, language: Any) -> None:
    of_type = interpreter._get_np_dtype
    known: dict[str, Any] = {}

    def looked_up(kind: Any) -> Any:
        name = "pointer" if isinstance(kind.scalar, language.pointer_type) else kind.scalar.name
        if name not in known:
            known[name] = of_type(kind)
        return known[name]

    interpreter._get_np_dtype = looked_up


def _patch_once_a_launch(interpreter: Any, language: Any) -> None:
    """A launch patches the language and takes that back at its end; functions it calls find it patched."""
    patch, launch = interpreter._patch_lang, interpreter.GridExecutor.__call__
    patched: set[tuple[bool, bool]] = set()
    launches: list[object] = []

    def patch_for(function: FunctionType) -> Any:
        seen = function.__globals__.values()
        needs = (any(v is language for v in seen), any(v is language.core for v in seen))
        if needs in patched:
            return interpreter._LangPatchScope()
        scope = patch(function)
        if launches:
            patched.add(needs)
        return scope

    def launched(self: Any, *arguments: Any, **named: Any) -> None:
        patched.clear()
        launches.append(self)
        try:
            launch(self, *arguments, **named)
        finally:
            launches.pop()
            patched.clear()

    interpreter._patch_lang = patch_for
    interpreter.GridExecutor.__call__ = launched
