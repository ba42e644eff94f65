"""One session for the tests of this folder: its zygote imports torch once."""

from collections.abc import Iterator

import pytest

from guard.protocol import SMOKE, Protocol
from guard.session import Session


@pytest.fixture(scope="session")
def session() -> Iterator[Session]:
    with Session("cpu", threads=1) as opened:
        yield opened


@pytest.fixture
def quick() -> Protocol:
    """Few calls and short limits, so that a hanging candidate costs a test seconds."""
    return SMOKE.model_copy(
        update={"official_rounds": 3, "measured_calls": 3, "build_limit_s": 20.0, "evaluation_limit_s": 60.0}
    )
