"""A top-level function renamed in its text, so that another may take its name."""

import ast
import re


def rename_function(source: str, old: str, new: str) -> str:
    """`source` with the top-level function `old` and every mention of it called `new`; comments are kept.

    `new` must not occur in `source` yet.
    """
    module = ast.parse(source)
    lines = source.splitlines()
    for row, column in sorted(_mentions(module, old, lines), reverse=True):
        # ast counts columns in bytes of UTF-8
        raw = lines[row].encode()
        lines[row] = (raw[:column] + new.encode() + raw[column + len(old.encode()) :]).decode()
    return "\n".join(lines) + "\n"


def _mentions(module: ast.Module, name: str, lines: list[str]) -> set[tuple[int, int]]:
    """Row (from 0) and byte column of every place where the global `name` stands."""
    found = {
        (node.lineno - 1, node.col_offset)
        for node in ast.walk(module)
        if isinstance(node, ast.Name) and node.id == name
    }
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            row = node.lineno - 1
            start = re.search(rf"\bdef\s+{name}\b", lines[row])
            if start is not None:
                found.add((row, len(lines[row][: start.end() - len(name)].encode())))
    return found
