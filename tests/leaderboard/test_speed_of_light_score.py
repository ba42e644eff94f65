"""A score against physical bounds: no more than 1, flagged, and named."""

from datetime import date

import pytest

from leaderboard.score import score_problem
from leaderboard.submission_score import no_submission
from leaderboard.tables import Provenance, TimeTable, bounds_for


def table(quantity: str, time_ms: float, revision: str) -> TimeTable:
    provenance = Provenance(
        source="kernelarc sol t",
        retrieved=date(2026, 1, 1),
        revision=revision,
        hardware="H200",
        measured_by="ours",
    )
    return TimeTable.model_validate(
        {"quantity": quantity, "provenance": provenance, "times_ms": {"t": {"w": time_ms}}}
    )


@pytest.mark.parametrize(
    ("revision", "latency", "score", "flag"),
    [
        ("physical-0123", 0.9, 1.0, "above-one"),
        ("physical-0123", 0.1, 1.0, "outside-the-formula"),
        ("physical-0123", 1.5, 0.5, None),
        ("published-0123", 0.75, 2.0, "above-one"),
    ],
)
def test_physical_bounds_clip_and_flag(revision: str, latency: float, score: float, flag: str | None) -> None:
    bounds = bounds_for("t", table("t_sol", 1.0, revision), table("t_b", 1.5, "ours"))
    (scored,) = score_problem("t", bounds, {"w": latency}).workloads
    assert (scored.score, scored.audit) == (pytest.approx(score), flag)


@pytest.mark.parametrize("pricing", ["physical", "published"])
def test_a_score_says_which_pricing_it_used(pricing: str) -> None:
    scored = no_submission("t", table("t_sol", 1.0, f"{pricing}-0123"), table("t_b", 1.5, "ours"))
    assert scored.remarks[0].startswith(f"T_SOL by {pricing} pricing")
