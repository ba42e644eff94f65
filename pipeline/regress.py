"""The driver check: snapshots judged again where only the driver may differ, and the series they add to."""

import time
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from guard.verdict import Environment, Verdict
from leaderboard.benchmark_json import benchmark_json
from leaderboard.differences import Difference, Excusable, environment_differences
from leaderboard.equivalence import Answer, Margins
from leaderboard.gate import a_look, left_open, pooled, second_look
from leaderboard.holds import Holding
from leaderboard.sessions import DriverSeries, Session, examine, read_sessions, write_session
from leaderboard.snapshot import Snapshot, WorkloadTimes, process_medians
from pipeline.device import choose_device
from pipeline.progress import Progress
from pipeline.recheck import Recheck, environment_here, recheck
from pipeline.settings import Settings
from tasks.value import Value

if TYPE_CHECKING:
    from guard.session import Session as Guarded

SESSIONS = Path(".kernelarc/sessions")
_NO_NEED_TO_RUN = ("kind", "device")
"""What is known before anything is judged, and makes judging for times pointless."""
_EXCUSED: frozenset[Excusable] = frozenset({"driver"})
_GOOD = (Answer.REPRODUCED, Answer.FASTER)
FINDING = Margins(smallest_change=0.01, resolution_ms=64e-6)
"""A change of 1 % is a finding, half of the 2 % that has to be found; of tiny kernels two ticks of CUPTI's clock."""


class Regression(Value):
    """One snapshot's part of a driver check."""

    name: str
    answer: Answer
    differences: tuple[Difference, ...]
    holding: Holding | None = None
    """None when it was not judged: the baseline's device is not here, or no time was left."""
    series: DriverSeries | None = None
    times: tuple[WorkloadTimes, ...] = ()
    environment: Environment

    @property
    def is_good(self) -> bool:
        """Every workload shown to be the same or faster, and the series does not say slower."""
        covered = self.holding is not None and not self.holding.not_covered
        return covered and self.answer in _GOOD and not (self.series and self.series.slower)

    def lines(self) -> tuple[str, ...]:
        if self.holding is None:
            return (f"{self.name}: {self.answer}", *map(str, self.differences))
        series = self.series.lines() if self.series else ()
        return (f"{self.name}:", *self.holding.lines(), *series)


def regress(
    snapshots: Sequence[Snapshot],
    settings: Settings,
    progress: Progress,
    *,
    root: Path = SESSIONS,
    max_seconds: float | None = None,
    session: "Guarded | None" = None,
) -> tuple[Regression, ...]:
    """Judge each again, keep the session where it may be compared, and say what both have to say.

    `max_seconds` is for all of them: each gets an equal share of what is left. `session` is the guard's own,
    where one is open already.
    """
    from guard.session import Session as Guarded

    began = time.monotonic()
    device = choose_device(settings.device)
    here = environment_here(device)
    found = []
    with nullcontext(session) if session else Guarded(device, inputs=settings.inputs) as guarded:
        for number, snapshot in enumerate(snapshots):
            left = None
            if max_seconds is not None:
                left = max(1.0, (max_seconds - (time.monotonic() - began)) / (len(snapshots) - number))
            found.append(_one(snapshot, settings, progress, here, root, left, guarded))
    return tuple(found)


def code_of(found: Sequence[Regression]) -> int:
    """2 when any could not be compared, else 1 when any is not good, else 0."""
    if any(r.answer is Answer.NOT_COMPARABLE for r in found):
        return 2
    return 0 if all(r.is_good for r in found) else 1


def as_benchmark(found: Sequence[Regression]) -> dict[str, Any]:
    """All that was timed, as pytest-benchmark writes it."""
    environment = next((r.environment for r in found if r.times), found[0].environment)
    kernels = {r.name: r.times for r in found if r.times}
    return benchmark_json(kernels, environment, _now())


def _one(
    snapshot: Snapshot,
    settings: Settings,
    progress: Progress,
    here: Environment,
    root: Path,
    max_seconds: float | None,
    guarded: "Guarded",
) -> Regression:
    pointless = [d for d in environment_differences(snapshot.environment, here) if d.what in _NO_NEED_TO_RUN]
    if pointless:
        return Regression(
            name=snapshot.name,
            answer=Answer.NOT_COMPARABLE,
            differences=tuple(pointless),
            environment=here,
        )
    verdict, holding = _gate(snapshot, settings, progress, max_seconds, guarded)
    timed = (process_medians(verdict.measurements, w.uuid) for w in verdict.workloads)
    times = tuple(t for t in timed if t is not None)
    series = None
    if holding.workloads:
        write_session(_session(snapshot, verdict.environment, holding), root)
        series = examine(read_sessions(root, snapshot.digest, verdict.environment.uuid))
    return Regression(
        name=snapshot.name,
        answer=holding.answer,
        differences=holding.differences,
        holding=holding,
        series=series,
        times=times if holding.workloads else (),
        environment=verdict.environment,
    )


def _gate(
    snapshot: Snapshot,
    settings: Settings,
    progress: Progress,
    max_seconds: float | None,
    guarded: "Guarded",
) -> tuple[Verdict, Holding]:
    """The first look, and where it leaves something open and time allows, the second (`leaderboard/gate.py`)."""

    def look(left: float | None, only: frozenset[str] | None = None) -> Recheck:
        return recheck(
            snapshot, settings, progress, excused=_EXCUSED, max_seconds=left, session=guarded,
            rule=a_look(FINDING), only=only,
        )  # fmt: skip

    began = time.monotonic()
    first = look(max_seconds)
    took = time.monotonic() - began
    still_open = left_open(first.holding, FINDING)
    share = len(still_open) / max(1, len(first.holding.workloads))
    if not still_open or (max_seconds is not None and took * (1 + share) > max_seconds):
        return first.verdict, first.holding
    progress.note(f"a second look at {len(still_open)} workloads of {snapshot.name}")
    both = pooled(first.verdict, look(None, still_open).verdict)
    holding = second_look(
        snapshot,
        first.holding,
        both,
        first.protocol,
        rule=FINDING,
        part_of=first.verdict.task_digest,
        excused=_EXCUSED,
    )
    return both, holding


def _session(snapshot: Snapshot, environment: Environment, holding: Holding) -> Session:
    return Session(
        snapshot=snapshot.digest,
        taken_at=_now(),
        environment=environment,
        medians_ms={w.uuid: w.now_ms for w in holding.workloads},
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
