"""Source code with its words marked: by Pygments, once for every piece that occurs again and again.

Variants of one kernel differ in a few lines, so a file is cut at its top-level statements and each piece is
read once. What is kept is not HTML but runs, `12k3-5s1`: twelve characters of a keyword, three plain ones, and
so on; a browser makes spans of them in a few lines, and thousands of files stay small.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, String, _TokenType

_LEXERS = {
    ".py": "python",
    ".cu": "cuda",
    ".cuh": "cuda",
    ".cpp": "cpp",
    ".h": "cpp",
    ".hpp": "cpp",
    ".cc": "cpp",
}
_MARKS: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "c"),
    (String, "s"),
    (Number, "n"),
    (Literal, "n"),
    (Keyword, "k"),
    (Operator.Word, "k"),
    (Name.Decorator, "d"),
    (Name.Function, "f"),
    (Name.Class, "f"),
    (Name.Builtin, "b"),
)
PLAIN = "-"
_TOP_LEVEL = re.compile(r"^(?=[@A-Za-z_#])", re.MULTILINE)


def runs(path: str, text: str) -> str:
    """Every character of `text` under one mark: c(omment), s(tring), n(umber), k(eyword), d(ecorator),
    f(unction), b(uilt-in) or - for none. Files of an unknown language have no marks."""
    suffix = path[path.rfind(".") :] if "." in path else ""
    language = _LEXERS.get(suffix)
    if language is None or not text:
        return f"{len(text)}{PLAIN}" if text else ""
    return _joined(run for piece in _pieces(text, suffix) for run in _runs_of(language, piece))


def _pieces(text: str, suffix: str) -> Iterator[str]:
    """Cut before lines that begin at the margin, but never within a text that runs over several lines."""
    if suffix != ".py":
        yield text
        return
    cuts = [m.start() for m in _TOP_LEVEL.finditer(text)]
    begin = 0
    for cut in [*cuts, len(text)]:
        piece = text[begin:cut]
        if piece and _is_whole(piece):
            yield piece
            begin = cut
    if begin < len(text):
        yield text[begin:]


def _is_whole(piece: str) -> bool:
    return all(piece.count(quotes) % 2 == 0 for quotes in ('"""', "'''"))


@lru_cache(maxsize=50_000)
def _runs_of(language: str, piece: str) -> tuple[tuple[int, str], ...]:
    found: list[tuple[int, str]] = []
    for _, kind, value in _lexer(language).get_tokens_unprocessed(piece):
        mark = _mark(kind) if value.strip() else PLAIN
        if found and found[-1][1] == mark:
            found[-1] = (found[-1][0] + len(value), mark)
        else:
            found.append((len(value), mark))
    return tuple(found)


@cache
def _mark(kind: _TokenType) -> str:
    return next((mark for parent, mark in _MARKS if kind in parent), PLAIN)  # type: ignore[comparison-overlap]


@cache
def _lexer(language: str) -> Lexer:
    return get_lexer_by_name(language)


def _joined(found: Iterator[tuple[int, str]]) -> str:
    merged: list[tuple[int, str]] = []
    for length, mark in found:
        if merged and merged[-1][1] == mark:
            merged[-1] = (merged[-1][0] + length, mark)
        else:
            merged.append((length, mark))
    return "".join(f"{length}{mark}" for length, mark in merged)
