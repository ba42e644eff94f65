"""Fixtures that any part may need."""

import os
from pathlib import Path

import pytest


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of tests on a GPU the guard's first: others hold the GPU from this process, which the guard takes for company."""
    items.sort(key=lambda item: "gpu" in item.keywords and "guard" not in Path(item.path).parts)
