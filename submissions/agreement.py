"""Does a verdict agree with its own raw samples? Asked when packing, and again when verifying."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from guard.two_times import busy_of, timing_flags
from guard.verdict import Verdict, WorkloadVerdict, deciding, latency_of
from submissions.samples import Samples
from tasks.trace import Status
from tasks.workload import Workload


class Disagreement(NamedTuple):
    field: str
    problem: str


def disagreements(
    verdict: Verdict, samples: Samples, workloads: Sequence[Workload]
) -> Iterator[Disagreement]:
    """Every figure of `verdict` that its samples do not bear out, and every workload that is not there."""
    uuids = [workload.uuid for workload in workloads]
    if [workload.uuid for workload in verdict.workloads] != uuids:
        yield Disagreement("verdict.workloads", "they are not the task's workloads, one by one")
    strangers = {m.workload for m in (*samples.candidate, *samples.reference)} - set(uuids)
    if strangers:
        yield Disagreement("samples", f"they belong to unknown workloads {sorted(strangers)}")
    for number in range(len(verdict.workloads)):
        yield from _of_workload(verdict, number, samples)


def _of_workload(verdict: Verdict, number: int, samples: Samples) -> Iterator[Disagreement]:
    judged, field = verdict.workloads[number], f"verdict.workloads[{number}]"
    if judged.status is Status.PASSED:
        for name in ("max_absolute_error", "max_relative_error"):
            if getattr(judged, name) is None:
                yield Disagreement(f"{field}.{name}", "it passed without this figure")
    yield from _of_times(judged, field, samples)


def _of_times(judged: WorkloadVerdict, field: str, samples: Samples) -> Iterator[Disagreement]:
    official = [m for m in samples.candidate if m.workload == judged.uuid and m.kind == "official"]
    if judged.timer is None and not official:
        # the guard's own calls are timed by the way and stand for no latency
        if judged.latency_ms is not None:
            yield Disagreement(f"{field}.latency_ms", f"{judged.latency_ms} ms are claimed, by no timer")
        return
    median_ms = latency_of(samples.candidate, judged.uuid)
    if judged.latency_ms != median_ms:
        problem = f"{judged.latency_ms} ms are claimed; the median of the samples is {median_ms}"
        yield Disagreement(f"{field}.latency_ms", problem)
    stated = {"busy_ms": judged.busy_ms, "flags": judged.flags}
    derived = {
        "busy_ms": busy_of(samples.candidate, judged.uuid),
        "flags": timing_flags(samples.candidate, judged.uuid),
    }
    for name, claimed in stated.items():
        if claimed != derived[name]:
            yield Disagreement(f"{field}.{name}", f"{claimed} is claimed; the samples give {derived[name]}")
    used = (*deciding(samples.candidate, judged.uuid), *deciding(samples.reference, judged.uuid))
    timers = sorted({m.timer for m in used})
    if timers != [judged.timer]:
        problem = f"{judged.timer} is claimed; the samples were timed by {', '.join(timers) or 'nothing'}"
        yield Disagreement(f"{field}.timer", problem)
