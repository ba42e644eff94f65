"""The device, held for all steps, and the snapshots taken so far."""

from guard.session import Session
from leaderboard.snapshot import Medians, Snapshot
from leaderboard.snapshot_file import read_snapshot
from pipeline.evaluate import reference_of
from pipeline.progress import Lines
from pipeline.recheck import the_task
from pipeline.sentinels import sentinel_here
from pipeline.settings import Settings
from scripts.leaderboard_bars.asked import Asked, Row
from scripts.leaderboard_bars.delay import delayed_on_cpu
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.task import Task

_CLOCK_MHZ = 1980.0
"""Of an H200's multiprocessors at work, where the snapshot did not measure it."""


class Bench:
    def __init__(self, asked: Asked, settings: Settings, session: Session, rows: list[Row]) -> None:
        self.asked, self.settings, self.session, self.rows = asked, settings, session, rows
        self.progress = Lines()

    def snapshot(self, step: str, name: str) -> Snapshot:
        """What `step` took of the task; `TaskError` when it has not yet."""
        for row in self.rows:
            if (row["step"], row["task"]) == (step, name) and "file" in row:
                return read_snapshot(self.asked.snapshots / row["file"])
        raise TaskError(f"has no snapshot yet: the step {step} comes first", file=name)

    def sentinels(self) -> tuple[Snapshot, ...]:
        taken = [row["task"] for row in self.rows if row["step"] == "sentinels" and "file" in row]
        return tuple(self.snapshot("sentinels", name) for name in taken)

    def task(self, snapshot: Snapshot) -> Task:
        return the_task(snapshot, self.settings, self.session.device, self.progress)

    def sentinel(self, name: str, task: Task, cycles: int) -> Candidate:
        """The cubin for this GPU, waiting so long at its end; on a CPU the reference, as no cubin runs there."""
        if self.session.device == "cuda":
            return sentinel_here(name, cycles)[0]
        candidate = reference_of(task)
        if not cycles:
            return candidate
        axes = task.workloads[0].axes
        shape = next(iter(task.definition.input_shapes(axes).values())) or ()
        return delayed_on_cpu(candidate, {shape: int(cycles / _CLOCK_MHZ * 1e3)})

    def chosen(self, snapshot: Snapshot) -> frozenset[str]:
        """Some workloads, evenly spread over those that take longest: what is tiny is lost in the timer's tick."""
        wanted = self.asked.workloads
        longest = sorted(snapshot.times, key=lambda t: -middle(t.medians_ms))
        half = longest[: max(wanted, (len(longest) + 1) // 2)]
        step = max(1, len(half) // wanted)
        return frozenset(t.uuid for t in half[::step][:wanted])


def middle(medians: Medians) -> float:
    return sorted(medians)[len(medians) // 2]


def cycles_of(medians_ms: Medians, share: float, snapshot: Snapshot) -> int:
    """So many cycles are that share of the time, at the clock that the snapshot was taken at."""
    clock_mhz = snapshot.environment.clocks.get("sm_during_mhz") or _CLOCK_MHZ
    return round(share * middle(medians_ms) * clock_mhz * 1e3)
