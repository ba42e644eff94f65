"""Near duplicates: what only words tell apart, and what is more than words."""

import pytest

from agents.likeness import likeness
from tasks.candidate import Candidate
from tests.fakes.task import candidate

PLAIN = """
import torch
import math

def scale(x, by):
    "Scaled."
    wide = x.float()
    total = wide * by
    return total

def run(x):
    # twice
    return scale(x, 2)
"""


def holding(source: str, path: str = "solution.py") -> Candidate:
    made = candidate("accepted 1")
    file = made.solution.sources[0].model_copy(update={"content": source, "path": path})
    return made.model_copy(update={"solution": made.solution.model_copy(update={"sources": (file,)})})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    # twice\n", ""),
        ('    "Scaled."\n', ""),
        ("import torch\nimport math", "import math\nimport torch"),
        ("wide", "w"),
        ("    total = wide", "    total  =  wide"),
    ],
)
def test_words_alone_make_no_new_candidate(old, new):
    assert old in PLAIN
    assert likeness(holding(PLAIN)) == likeness(holding(PLAIN.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("scale(x, 2)", "scale(x, 3)"),
        ("wide * by", "by * wide"),
        ("x.float()", "x.half()"),
        ("def scale(x, by)", "def scale(by, x)"),
        ("return total", "return wide"),
        ("import math", "import cmath"),
    ],
)
def test_numbers_structure_and_calls_do(old, new):
    assert old in PLAIN
    assert likeness(holding(PLAIN)) != likeness(holding(PLAIN.replace(old, new)))


def test_swapped_names_are_not_taken_for_the_same():
    crossed = "def run(x):\n    a = x + 1\n    b = x + 2\n    return {}\n"
    assert likeness(holding(crossed.format("a - b"))) != likeness(holding(crossed.format("b - a")))


def test_a_name_of_an_outer_function_stays_itself_inside():
    outer = "def run(x):\n    a = 1\n    def inner(y):\n        {0} = y\n        return {1}\n    return inner(x)\n"
    assert likeness(holding(outer.format("b", "b"))) != likeness(holding(outer.format("b", "a")))
    assert likeness(holding(outer.format("b", "b"))) == likeness(holding(outer.format("c", "c")))


def test_cuda_is_compared_without_comments_and_spacing():
    assert likeness(holding("int a; // one\n", "k.cu")) == likeness(holding("int  a; /* two */", "k.cu"))
    assert likeness(holding("int a;", "k.cu")) != likeness(holding("int b;", "k.cu"))


@pytest.mark.parametrize("source", ["def run(", "x = " + "(" * 500, "\0"])
def test_what_is_no_python_is_compared_as_it_is(source):
    assert likeness(holding(source)) != likeness(holding(source + " "))
