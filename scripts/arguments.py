"""Arguments as a record keeps them: files by their names, since folders say nothing elsewhere."""

from pathlib import Path


def named(arguments: list[str]) -> list[str]:
    """`arguments` with every absolute path shortened to its last part."""
    return [Path(text).name if text.startswith("/") else text for text in arguments]
