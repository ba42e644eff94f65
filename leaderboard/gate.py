"""The gate of a driver check: two looks at fixed numbers of processes, each with half of every alpha.

The first look takes as many new processes as the snapshot has. Only what it leaves open is judged again, by as many
more, and the second look pools both. The family of a look is every workload that was compared, decided ones too:
which of them are open hangs on what was measured, and a smaller family would be paid for with false findings.
"""

from guard.protocol import Protocol
from guard.statistics.rank_tests import smallest_p
from guard.verdict import Verdict, joint_environment
from leaderboard.differences import Excusable
from leaderboard.equivalence import Answer, Margins
from leaderboard.holds import Holding, holds, overall
from leaderboard.snapshot import Snapshot

_LOOKS = 2


def a_look(rule: Margins) -> Margins:
    """`rule` with the share of its alphas that one look may spend."""
    return rule.model_copy(
        update={
            "equivalence_alpha": rule.equivalence_alpha / _LOOKS,
            "direction_alpha": rule.direction_alpha / _LOOKS,
        }
    )


def left_open(first: Holding, rule: Margins) -> frozenset[str]:
    """uuids that a second look may still decide; none where it could not, whatever it measured."""
    alpha = max(rule.equivalence_alpha, rule.direction_alpha) / _LOOKS
    count = len(first.workloads)
    return frozenset(
        w.uuid
        for w in first.workloads
        if w.answer is Answer.INCONCLUSIVE
        and smallest_p(w.processes[0], _LOOKS * w.processes[1]) * count <= alpha
    )


def pooled(first: Verdict, more: Verdict) -> Verdict:
    """The first verdict with the processes of the second after its own; the second's workloads are some of the first's."""
    taken = 1 + max((m.process for m in first.measurements), default=-1)
    later = tuple(m.model_copy(update={"process": m.process + taken}) for m in more.measurements)
    return first.model_copy(
        update={
            "status": more.status, "reason": more.reason,
            "environment": joint_environment((first.environment, more.environment)),
            "measurements": (*first.measurements, *later),
            "flags": tuple(sorted({*first.flags, *more.flags})),
        }
    )  # fmt: skip


def second_look(
    snapshot: Snapshot,
    first: Holding,
    both: Verdict,
    protocol: Protocol,
    *,
    rule: Margins,
    part_of: str,
    excused: frozenset[Excusable] = frozenset(),
) -> Holding:
    """What the gate says: `first` where that decided, and the second look at `both`, all processes, where it did not."""
    second = holds(snapshot, both, protocol, excused=excused, part_of=part_of, rule=a_look(rule))
    if both.status == "rejected" or not second.workloads:
        return second
    open_before = left_open(first, rule)
    again = {w.uuid: w for w in second.workloads}
    workloads = tuple(again[w.uuid] if w.uuid in open_before else w for w in first.workloads)
    remark = f"a second look, at twice the processes, at {len(open_before)} of {len(workloads)} workloads"
    return second.model_copy(
        update={
            "workloads": workloads, "remarks": (*second.remarks, remark),
            "answer": overall(both, second.differences, workloads),
        }
    )  # fmt: skip
