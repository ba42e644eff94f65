"""Arguments as a record keeps them: files by their names, since folders say nothing elsewhere."""

import shlex
import sys
from pathlib import Path


def command_line(module: str) -> str:
    """The command that this process was started with, as a person would type it."""
    return shlex.join(["python", "-m", module, *_named(sys.argv[1:])])


def _named(arguments: list[str]) -> list[str]:
    """`arguments` with every absolute path shortened to its last part."""
    return [Path(text).name if text.startswith("/") else text for text in arguments]
