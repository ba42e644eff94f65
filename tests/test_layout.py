"""The house rules that no linter knows."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from pipeline.doctor import OUR_NAMES, foreign_owners

ROOT = Path(__file__).parents[1]
PROBLEMS = {"L1", "L2", "Quantization", "FlashInfer"}
MANDATED = (
    "tasks/L1", "tasks/L2", "tasks/Quantization", "tasks/FlashInfer", "guard", "submissions/ready", "agents",
    "leaderboard", "pipeline", "scripts", "tests", "docs/decisions",
)  # fmt: skip
FORBIDDEN = {"core", "util", "utils", "common", "helper", "helpers", "manager", "handler", "data", "info"}
LONGEST_FILE, LONGEST_FUNCTION = 250, 60


@cache
def modules() -> list[Path]:
    """Every module of ours; the shipped problems hold quoted code, not modules."""
    files = [file for name in OUR_NAMES for file in (ROOT / name).rglob("*.py")]
    return [file for file in files if not PROBLEMS & set(file.relative_to(ROOT).parts)]


@cache
def trees() -> dict[Path, ast.Module]:
    """What each says, read once for all rules."""
    return {file: ast.parse(file.read_text()) for file in modules()}


def named(file: Path) -> str:
    return str(file.relative_to(ROOT))


@pytest.mark.parametrize("folder", MANDATED)
def test_a_mandated_folder_is_there(folder):
    assert (ROOT / folder).is_dir()


def test_no_module_or_class_has_a_name_that_says_nothing():
    found = []
    for file, tree in trees().items():
        words = set(re.split(r"[_/.]", named(file).lower()))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                words |= {word.lower() for word in re.findall(r"[A-Z][a-z]+", node.name)}
        found += [f"{named(file)}: {word}" for word in sorted(words & FORBIDDEN)]
    assert found == []


def test_no_installed_distribution_owns_one_of_our_names():
    assert list(foreign_owners()) == []


def test_files_are_about_one_thing():
    long = {
        named(file): lines
        for file in modules()
        if (lines := len(file.read_text().splitlines())) > LONGEST_FILE
    }
    assert long == {}


def test_functions_fit_on_a_screen():
    long = {}
    for file, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or 0) - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    long[f"{named(file)}:{node.name}"] = lines
    assert long == {}


def test_every_package_says_in_one_sentence_what_it_is():
    wrong = []
    for folder in sorted({file.parent for file in modules()}):
        first = folder / "__init__.py"
        said = ast.get_docstring(ast.parse(first.read_text())) if first.exists() else None
        if not said or not re.fullmatch(r"[^.?!]*[.?!]?", said.splitlines()[0].rstrip(".?!")):
            wrong.append(f"{named(folder)}: {said!r}")
    assert wrong == []


def test_every_module_says_what_it_is():
    silent = [named(file) for file, tree in trees().items() if not ast.get_docstring(tree)]
    assert silent == []
