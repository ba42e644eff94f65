"""From a model's reply to a proposal: tolerant of form, strict about what it must be in the end."""

import ast
import json
import re
from collections.abc import Iterator

from agents.proposal import Proposal
from tasks.solution import Language

LONGEST_SOURCE = 200_000
_STRATEGY = re.compile(r"^\W*strategy\W*[:=]\s*(.+)$", re.IGNORECASE | re.MULTILINE)
_FENCE = re.compile(r"^[ \t]*```[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_LIMIT = 160


class Unusable(ValueError):
    """Why nothing can be made of a reply, in words that its writer can use."""


def proposal_in(reply: str) -> Proposal:
    """The longest block of Python that defines `run`; a block that was not closed counts, if it is whole Python."""
    blocks = sorted(_blocks(reply), key=len, reverse=True)
    if not blocks:
        raise Unusable("it holds no code")
    faults = []
    for source in blocks:
        fault = _fault(source)
        if fault is None:
            return Proposal(_strategy(reply), source.strip() + "\n", languages=_languages(source))
        faults.append(fault)
    raise Unusable(faults[0])


def _blocks(reply: str) -> Iterator[str]:
    for match in _FENCE.finditer(reply):
        yield match.group(2)
    try:
        content = json.loads(reply[reply.index("{") : reply.rindex("}") + 1])
    except (ValueError, RecursionError):
        content = None
    if isinstance(content, dict):
        yield from (v for k in ("source", "code", "solution") if isinstance(v := content.get(k), str))
    if "```" not in reply and "def run" in reply:
        yield reply


def _fault(source: str) -> str | None:
    if len(source) > LONGEST_SOURCE:
        return f"its code is longer than {LONGEST_SOURCE} characters"
    try:
        module = ast.parse(source)
        compile(source, "main.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        return f"its code is not Python: {error.msg}, line {error.lineno}"
    except (ValueError, RecursionError, MemoryError) as error:
        return f"its code is not Python: {type(error).__name__}"
    if not any(isinstance(node, ast.FunctionDef) and node.name == "run" for node in module.body):
        return "its code defines no function `run`"
    return None


def _strategy(reply: str) -> str:
    found = _STRATEGY.search(reply)
    said = found.group(1) if found else "as the language model wrote it, without a word on why"
    plain = " ".join("".join(c if c.isprintable() else " " for c in said).split())
    return plain[:_LIMIT] or "without a word on why"


def _languages(source: str) -> tuple[Language, ...]:
    """By what is imported."""
    names = {
        alias.name.partition(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    return (Language.TRITON,) if "triton" in names else (Language.PYTORCH,)
