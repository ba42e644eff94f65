"""Marks by pieces are the marks of the whole file."""

import re
from pathlib import Path

import pytest
from pygments.lexers import get_lexer_by_name

from leaderboard.board.highlight import _mark, runs

ROOT = Path(__file__).parents[3]
HARD = '''"""A docstring
def not_a_function():
    still text
"""
import torch

X = """
@not.a.decorator
# not a comment
"""


@torch.no_grad()
def run(x: "torch.Tensor", n: int = 0x1F) -> float:
    # a comment with """ three quotes
    return f"{x!r} {n:>3}" 'and' r"raw\\n"
class Tail: pass
'''


def spread(text: str, found: str) -> str:
    """One mark a character; white space has none, whichever run it fell into."""
    marks = "".join(mark * int(length) for length, mark in re.findall(r"(\d+)([a-z-])", found))
    assert len(marks) == len(text)
    return "".join("-" if letter.isspace() else mark for letter, mark in zip(text, marks, strict=True))


def whole(text: str, language: str) -> str:
    tokens = get_lexer_by_name(language).get_tokens_unprocessed(text)
    return "".join(_mark(kind) * len(value) for _, kind, value in tokens)


@pytest.mark.parametrize("path", ["leaderboard/score.py", "agents/template.py", "pipeline/journal.py"])
def test_a_file_cut_in_pieces_is_marked_as_the_whole(path: str) -> None:
    text = (ROOT / path).read_text()
    expected = "".join("-" if c.isspace() else m for c, m in zip(text, whole(text, "python"), strict=True))
    assert spread(text, runs(path, text)) == expected


def test_texts_over_several_lines_are_never_cut() -> None:
    expected = "".join("-" if c.isspace() else m for c, m in zip(HARD, whole(HARD, "python"), strict=True))
    assert spread(HARD, runs("x.py", HARD)) == expected


def test_cuda_has_keywords_and_an_unknown_language_none() -> None:
    text = "#include <x>\n__global__ void run(float* x) { return; } // end\n"
    assert {"k", "c"} <= set(spread(text, runs("kernel.cu", text)))
    assert runs("notes.txt", text) == f"{len(text)}-" and runs("x.py", "") == ""
