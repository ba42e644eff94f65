"""Sentinels: kernels that stand for a card's own speed, so that two cards of a kind can be compared by ratios.

A sentinel is a snapshot like any other, of a candidate that nobody works on: a copy, a matrix product. Its times
are put into the snapshots that are taken beside it, and on another card it is judged again first.
"""

from collections.abc import Iterable

from guard.verdict import Environment, Verdict
from leaderboard.differences import environment_differences
from leaderboard.snapshot import Medians, Snapshot, process_medians, sentinel_name
from tasks.errors import TaskError


def sentinels_beside(environment: Environment, snapshots: Iterable[Snapshot]) -> dict[str, Medians]:
    """The medians of `snapshots`, all taken where `environment` says.

    `TaskError` when one was taken on another card, or where anything that bars a comparison was different.
    """
    found: dict[str, Medians] = {}
    for snapshot in snapshots:
        for difference in environment_differences(snapshot.environment, environment):
            if difference.bars or difference.what == "card":
                raise TaskError(
                    f"is no sentinel for it: {difference}",
                    file=snapshot.name,
                    mend="take sentinels on the card and under the driver of the snapshot",
                )
        candidate = snapshot.candidate.digest
        found |= {sentinel_name(candidate, t.uuid): t.medians_ms for t in snapshot.times}
    return found


def sentinels_of(verdicts: Iterable[Verdict]) -> dict[str, Medians]:
    """The medians of sentinels that were judged again; one that was rejected gives none."""
    found: dict[str, Medians] = {}
    for verdict in verdicts:
        if verdict.status != "accepted":
            continue
        for workload in verdict.workloads:
            times = process_medians(verdict.measurements, workload.uuid)
            if times is not None:
                found[sentinel_name(verdict.candidate_digest, workload.uuid)] = times.medians_ms
    return found
