"""A judge whose answer stands in the candidate's source.

`# fake: accepted 1.25` (ms), `# fake: rejected numerical`, `# fake: broken`; `sleeps 0.01` (s) before any.
"""

import re
import time

from guard.errors import GuardBroken
from guard.protocol import SEARCH, Protocol
from guard.verdict import Environment, Measurement, Reason, ReasonCode, Verdict, WorkloadVerdict
from tasks.candidate import Candidate
from tasks.task import Task
from tasks.trace import Status

CPU = Environment(device="cpu (fake)", kind="cpu", isolation="memfd+netns+landlock+seccomp")
GPU = Environment(device="NVIDIA B200", kind="cuda", isolation="vm-buffers+netns+landlock+seccomp")


def behaviour_of(candidate: Candidate) -> str:
    texts = [source.content for source in candidate.solution.sources]
    found = re.search(r"# fake: (.*)", "\n".join(texts))
    return found.group(1).strip() if found else "accepted 1"


def fake_judge(
    task: Task, candidate: Candidate, protocol: Protocol = SEARCH, environment: Environment = CPU
) -> Verdict:
    """Deterministic in the candidate; raises `GuardBroken` where its source says so."""
    behaviour = behaviour_of(candidate)
    if sleeps := re.search(r"sleeps ([\d.]+)", behaviour):
        time.sleep(float(sleeps.group(1)))
    if "broken" in behaviour:
        raise GuardBroken("the fake guard was told to break")
    if rejected := re.search(r"rejected ([\w-]+)", behaviour):
        reason = Reason(code=ReasonCode(rejected.group(1)), message="as the source says")
        return _verdict(task, candidate, protocol, environment, None, reason)
    accepted = re.search(r"accepted ([\d.]+)", behaviour)
    return _verdict(
        task, candidate, protocol, environment, float(accepted.group(1)) if accepted else 1.0, None
    )


def _verdict(
    task: Task,
    candidate: Candidate,
    protocol: Protocol,
    environment: Environment,
    time_ms: float | None,
    reason: Reason | None,
) -> Verdict:
    timer = "wall" if environment.kind == "cpu" else "cupti"
    workloads = tuple(
        WorkloadVerdict(
            uuid=workload.uuid,
            axes=workload.axes,
            status=Status.PASSED if reason is None else Status.INCORRECT_NUMERICAL,
            accepted=reason is None,
            max_absolute_error=0.0,
            max_relative_error=0.0,
            matched_ratio=1.0 if reason is None else 0.0,
            latency_ms=time_ms,
            timer=None if time_ms is None else timer,
        )
        for workload in task.workloads
    )
    measurements = () if time_ms is None else tuple(
        Measurement(workload=w.uuid, process=0, timer=timer, kind="official", times_ms=(time_ms,) * 3)
        for w in task.workloads
    )  # fmt: skip
    return Verdict(
        task=task.name,
        task_digest=task.digest,
        candidate_digest=candidate.digest,
        status="accepted" if reason is None else "rejected",
        reason=reason,
        workloads=workloads,
        measurements=measurements,
        environment=environment,
        protocol=protocol.name,
        protocol_digest=protocol.digest,
        precision=protocol.precision,
        marks=task.marks,
    )
