"""`holds`: does a snapshot still say what is so, by a pure function of it and of a new verdict."""

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence

from guard.protocol import Protocol
from guard.verdict import Verdict
from leaderboard.differences import (
    POWER_CAP,
    Difference,
    Excusable,
    environment_differences,
    protocol_differences,
)
from leaderboard.equivalence import Answer, Margins, Pair, WorkloadHolding, compare_pairs, too_few
from leaderboard.snapshot import Medians, Snapshot, WorkloadTimes, process_medians
from tasks.value import Value

BASES = {
    "same_card": "times on the same card",
    "ratios": "ratios to the sentinel kernels, on another card of the kind",
    "another_card": "times on another card of the kind, no sentinel kernels: a wide margin",
    "wall_clock": "a CPU's wall clock, which says nothing of a GPU",
}


class Holding(Value):
    """Whether a snapshot holds, workload by workload."""

    answer: Answer
    snapshot: str
    """Digest."""
    verdict: str
    """Digest of the new verdict."""
    basis: str
    """What was compared with what."""
    differences: tuple[Difference, ...]
    workloads: tuple[WorkloadHolding, ...]
    not_covered: tuple[str, ...]
    """uuids of the snapshot's workloads that the new run did not time."""
    power_capped: bool
    remarks: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Every workload of the snapshot was measured again and shown to be the same. Not knowing is not holding."""
        return self.answer is Answer.REPRODUCED and not self.not_covered

    def lines(self) -> tuple[str, ...]:
        covered, all_of_them = len(self.workloads), len(self.workloads) + len(self.not_covered)
        head = f"{self.answer}: {covered} of {all_of_them} workloads compared by {self.basis}"
        missing = [f"not covered: {', '.join(self.not_covered)}"] if self.not_covered else []
        return (head, *map(str, self.workloads), *missing, *map(str, self.differences), *self.remarks)


def holds(
    snapshot: Snapshot,
    verdict: Verdict,
    protocol: Protocol,
    *,
    sentinels: Mapping[str, Medians] | None = None,
    excused: frozenset[Excusable] = frozenset(),
    part_of: str | None = None,
    rule: Margins | None = None,
) -> Holding:
    """Compare `snapshot` with a new `verdict` on the same candidate, judged under `protocol`.

    `sentinels` are this session's, for another card; `excused` is what may differ because it is what is
    asked about (a new driver); `part_of` is the digest of the whole task when only some of its workloads
    were judged. `ValueError` when the verdict is about another candidate.
    """
    if verdict.candidate_digest != snapshot.candidate.digest:
        raise ValueError("the verdict is about another candidate than the snapshot")
    rule = rule or Margins()
    now = _times(verdict)
    found = tuple(_differences(snapshot, verdict, protocol, now, excused, part_of))
    capped = any(POWER_CAP in e.throttle_reasons for e in (snapshot.environment, verdict.environment))
    basis = _basis(snapshot, verdict, sentinels or {})
    workloads: tuple[WorkloadHolding, ...] = ()
    if verdict.status == "accepted" and not any(d.bars for d in found):
        pairs = {
            t.uuid: Pair(_logs(t.medians_ms), _logs(now[t.uuid])) for t in snapshot.times if t.uuid in now
        }
        shift = machine_shift(snapshot.sentinels, sentinels or {}) if basis == "ratios" else 0.0
        if basis != "same_card":  # whole machines differ by more than the smallest finding
            rule = rule.model_copy(update={"smallest_change": None, "resolution_ms": 0.0})
        workloads = compare_pairs(pairs, getattr(rule, basis), rule, shift, capped)
    compared = {w.uuid for w in workloads}
    return Holding(
        answer=overall(verdict, found, workloads),
        snapshot=snapshot.digest,
        verdict=verdict.digest,
        basis=BASES[basis],
        differences=found,
        workloads=workloads,
        not_covered=tuple(t.uuid for t in snapshot.times if t.uuid not in compared),
        power_capped=capped,
        remarks=tuple(_remarks(verdict, workloads, rule)),
    )


def machine_shift(then: Mapping[str, Medians], now: Mapping[str, Medians]) -> float:
    """Logarithm of how much slower this machine is: the mean over the sentinel kernels that both timed."""
    both = sorted({*then} & {*now})
    if not both:
        raise ValueError("no sentinel kernel was timed both times")
    return statistics.fmean(
        math.log(statistics.median(now[name])) - math.log(statistics.median(then[name])) for name in both
    )


def _times(verdict: Verdict) -> dict[str, WorkloadTimes]:
    found = (process_medians(verdict.measurements, w.uuid) for w in verdict.workloads)
    return {times.uuid: times for times in found if times is not None}


def _basis(snapshot: Snapshot, verdict: Verdict, sentinels: Mapping[str, Medians]) -> str:
    then, now = snapshot.environment, verdict.environment
    if then.kind == "cpu" and now.kind == "cpu":
        return "wall_clock"
    if then.uuid is not None and then.uuid == now.uuid:
        return "same_card"
    return "ratios" if {*snapshot.sentinels} & {*sentinels} else "another_card"


def _differences(
    snapshot: Snapshot,
    verdict: Verdict,
    protocol: Protocol,
    now: Mapping[str, WorkloadTimes],
    excused: frozenset[Excusable],
    part_of: str | None,
) -> Iterator[Difference]:
    yield from environment_differences(snapshot.environment, verdict.environment, excused)
    yield from protocol_differences(snapshot.protocol, protocol)
    task = part_of or verdict.task_digest
    if task != snapshot.task.digest:
        yield Difference(what="task", then=snapshot.task.digest[:12], now=task[:12], bars=True)
    if set(snapshot.task.marks) != set(verdict.marks):
        marks, marks_now = (", ".join(sorted(m)) or "none" for m in (snapshot.task.marks, verdict.marks))
        yield Difference(what="marks on the task", then=marks, now=marks_now, bars=True)
    timers, timers_now = (
        {f"{t.timer} ({t.kind})" for t in times} for times in (snapshot.times, now.values())
    )
    if now and timers != timers_now:
        then_said, now_said = (", ".join(sorted(t)) for t in (timers, timers_now))
        yield Difference(what="timer", then=then_said, now=now_said, bars=True)


def overall(verdict: Verdict, found: Sequence[Difference], workloads: Sequence[WorkloadHolding]) -> Answer:
    """The worst of all: a sure slowdown before an open question, an open question before a sure gain."""
    if verdict.status == "rejected":
        return Answer.REJECTED
    if any(d.bars for d in found):
        return Answer.NOT_COMPARABLE
    answers = {w.answer for w in workloads}
    order = (Answer.SLOWER, Answer.POWER_CAPPED, Answer.INCONCLUSIVE, Answer.FASTER, Answer.REPRODUCED)
    return next((answer for answer in order if answer in answers), Answer.INCONCLUSIVE)


def _remarks(verdict: Verdict, workloads: Sequence[WorkloadHolding], rule: Margins) -> Iterator[str]:
    if verdict.reason is not None:
        where = f" (workload {verdict.reason.workload})" if verdict.reason.workload else ""
        yield f"{verdict.reason.code}: {verdict.reason.message}{where}"
    few = [w.uuid for w in workloads if too_few(*w.processes, len(workloads), rule)]
    if few:
        yield f"too few processes to show anything of {len(few)} of {len(workloads)} workloads"


def _logs(times: Medians | WorkloadTimes) -> list[float]:
    medians = times.medians_ms if isinstance(times, WorkloadTimes) else times
    return [math.log(m) for m in medians]
