"""Headers that are compiled once a machine: candidates read them, and never change what the next one reads."""

from pathlib import Path

import pytest

import guard.headers
from guard.headers import is_wanted, lay_headers
from guard.judge import judge
from guard.protocol import Protocol
from guard.session import Session
from tests.guard.cases import HONEST, candidate, matmul_task

PLACE = "torchinductor_somebody/precompiled_headers/abc.h.gch"
READS_AND_WRITES = f"""# torch.compile
import os
import torch
FILE = os.path.join(os.getcwd(), {PLACE!r})
def run(A, B):
    with open(FILE) as file:
        read = file.read()
    try:
        open(FILE, "w")
    except OSError:
        return torch.mm(A, B) if read == "compiled" else A
    return B
"""


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands in for what a compiler takes ten seconds to make."""
    file = tmp_path / "kept" / PLACE
    file.parent.mkdir(parents=True)
    file.write_text("compiled")
    monkeypatch.setattr(guard.headers, "_kept", lambda: tmp_path / "kept")
    return file


def test_a_candidate_reads_the_headers_and_cannot_write_them(
    kept: Path, session: Session, quick: Protocol
) -> None:
    verdict = judge(matmul_task(), candidate(matmul_task(), READS_AND_WRITES), quick, session)
    assert verdict.status == "accepted", verdict.reason
    assert kept.read_text() == "compiled"


def test_only_who_compiles_gets_them_and_none_where_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = matmul_task()
    assert is_wanted(candidate(task, READS_AND_WRITES))
    assert not is_wanted(candidate(task, HONEST))
    monkeypatch.setattr(guard.headers, "_kept", lambda: None)
    assert lay_headers(tmp_path) == ()
    assert not list(tmp_path.iterdir())
