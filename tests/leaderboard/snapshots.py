"""Snapshots and verdicts with times drawn from a seed, for the tests of what holds."""

import numpy as np

from guard.protocol import FINAL, Protocol
from guard.verdict import Environment, Measurement, TimerName, Verdict, WorkloadVerdict
from leaderboard.snapshot import Snapshot, take_snapshot
from submissions.package import package
from tasks.candidate import Candidate
from tasks.task import Task
from tasks.trace import Status
from tests.fakes.task import candidate, doubling_task
from tests.submissions.builders import a_context

H200 = Environment(
    device="NVIDIA H200",
    kind="cuda",
    uuid="GPU-1",
    driver="580.10",
    libraries={"torch": "2.13.0", "triton": "3.7.1", "numpy": "2.4.0"},
    clocks={"sm_during_mhz": 1980.0, "memory_during_mhz": 3201.0},
    isolation="vm-buffers+netns+landlock+seccomp",
)


def verdict_on(
    task: Task,
    judged: Candidate,
    *,
    seed: int,
    spread: float = 0.003,
    slower: dict[str, float] | None = None,
    environment: Environment = H200,
    timer: TimerName = "cupti",
    protocol: Protocol = FINAL,
) -> Verdict:
    """Process medians spread lognormally by `spread`; `slower` multiplies a workload's by its factor."""
    draw = np.random.default_rng(seed)
    kind = "measured" if timer == "wall" else "official"
    samples = []
    for number, workload in enumerate(task.workloads):
        factor = (slower or {}).get(workload.uuid, 1.0)
        times = 0.1 * (number + 1) * factor * np.exp(draw.normal(0, spread, protocol.processes))
        samples += [
            Measurement(workload=workload.uuid, process=i, timer=timer, kind=kind, times_ms=(float(t),))
            for i, t in enumerate(times)
        ]
    workloads = tuple(
        WorkloadVerdict(
            uuid=w.uuid,
            axes=w.axes,
            status=Status.PASSED,
            accepted=True,
            latency_ms=float(np.median([m.times_ms[0] for m in samples if m.workload == w.uuid])),
            timer=timer,
            max_absolute_error=0.0,
            max_relative_error=0.0,
            matched_ratio=1.0,
        )
        for w in task.workloads
    )
    return Verdict(
        task=task.name,
        task_digest=task.digest,
        candidate_digest=judged.digest,
        status="accepted",
        workloads=workloads,
        measurements=tuple(samples),
        environment=environment,
        protocol=protocol.name,
        protocol_digest=protocol.digest,
    )


def a_problem(workloads: int = 16) -> tuple[Task, Candidate]:
    task = doubling_task(tuple(range(1, workloads + 1)))
    return task, candidate("accepted 1", task)


def snapshot_of(task: Task, judged: Candidate, verdict: Verdict, protocol: Protocol = FINAL) -> Snapshot:
    context = a_context(verdict, protocol)
    return take_snapshot(package(task, judged, verdict, target="LOCAL", context=context))
