"""Fixtures that any part may need."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from guard.programs import Programs

FIRST = ("e2e/test_main_job.py", "e2e/test_docs.py")
"""Files whose tests take longest: begun last, they would leave all other processes of a run with nothing to do."""


@pytest.fixture(scope="session")
def official_root() -> Path:
    """The folder of official problems that `$SOL_EXECBENCH_DATA` names; without it the test is skipped."""
    named = os.environ.get("SOL_EXECBENCH_DATA")
    if not named:
        pytest.skip("SOL_EXECBENCH_DATA is not set")
    return Path(named)


@pytest.fixture(scope="session")
def schemas() -> Path:
    """The folder of the official JSON schemas."""
    return Path(__file__).parent / "schemas"


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Programs]:
    """One interpreter from which the programs that examine candidates are forked: three seconds of imports each."""
    with Programs(tmp_path_factory.mktemp("programs")) as opened:
        yield opened


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first; of tests on a GPU the guard's, which takes who holds the GPU from this process for company."""
    items.sort(
        key=lambda item: (
            not str(item.path).endswith(FIRST),
            "gpu" in item.keywords and "guard" not in Path(item.path).parts,
        )
    )
