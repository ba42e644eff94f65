"""Claims of others, and that they never pass for measurements."""

from pathlib import Path

import pytest

from leaderboard.claims import CLAIMS, read_claims
from leaderboard.snapshot_file import read_snapshot
from tasks.errors import TaskError


def test_every_claim_has_a_source_and_a_date() -> None:
    claims = read_claims()
    assert (claims.source, str(claims.claimed_on)) == ("arXiv 2608.17071", "2026-07-30")
    assert len(claims.claims) == 6


def test_a_claim_keeps_its_conditions() -> None:
    (attention,) = read_claims().about("L1-030")
    assert [str(figure) for figure in attention.figures] == [
        "score 0.441 S (one agent)",
        "score 0.481 S (several agents)",
        "score 0.546 S (later)",
    ]
    gemm = read_claims().claims[0]
    assert str(gemm.figures[0]) == "throughput 766 TFLOP/s beside 742 TFLOP/s of matched cuBLAS"


def test_claims_are_no_snapshot() -> None:
    with pytest.raises(TaskError, match="is no snapshot"):
        read_snapshot(CLAIMS)


def test_a_claim_without_a_source_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "claims.json"
    path.write_text(CLAIMS.read_text().replace('"source"', '"sauce"'))
    with pytest.raises(TaskError, match="`source`"):
        read_claims(path)
