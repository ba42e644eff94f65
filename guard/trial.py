"""What is known so far in one judgement; it becomes the verdict."""

import time
from collections.abc import Callable

from guard.blame import CandidateFailed
from guard.protocol import Protocol
from guard.reference_process import ReferenceProcess
from guard.session import Session
from guard.timers import choose_timer
from guard.two_times import busy_of, timing_flags
from guard.verdict import (
    Environment,
    Measurement,
    Reason,
    ReasonCode,
    TimerName,
    Verdict,
    WorkloadVerdict,
    latency_of,
)
from tasks.candidate import Candidate
from tasks.definition import DType
from tasks.task import Task
from tasks.trace import Correctness, Status

_FRAGILE_SHARE = 0.1
OFFICIAL_ROUNDS = 10
_TORCH_NAMES = {DType.FLOAT4_E2M1: "float4_e2m1fn_x2"}
_STATUS_OF = {
    "shape": Status.INCORRECT_SHAPE, "dtype": Status.INCORRECT_DTYPE, "kind": Status.REWARD_HACK,
    "timeout": Status.TIMEOUT,
}  # fmt: skip


class Trial:
    """Mutable while the candidate runs; `verdict` cuts a frozen value loose from it."""

    def __init__(
        self,
        task: Task,
        candidate: Candidate,
        protocol: Protocol,
        session: Session,
        progress: Callable[[str], None],
    ) -> None:
        self.task, self.candidate, self.protocol, self.session, self.progress = (
            task,
            candidate,
            protocol,
            session,
            progress,
        )
        self.dps = candidate.solution.spec.destination_passing_style
        self.output_dtypes = [
            _TORCH_NAMES.get(s.dtype, s.dtype.value) for s in task.definition.outputs.values()
        ]
        self.deadline = time.monotonic() + protocol.evaluation_limit_s
        self.statuses: dict[str, Status] = {}
        self.figures: dict[str, Correctness] = {}
        self.ratios: dict[str, float] = {}
        self.measurements: list[Measurement] = []
        self.worked_ms: dict[str, list[float]] = {}
        """By workload, the device's work in each of the guard's own calls of the process at hand."""
        self.called_ms: dict[str, list[float]] = {}
        """By workload, how long each of them took by the guard's clock, whatever values it had."""
        self.flags: set[str] = set()
        self.after_build: Callable[[], None] = lambda: None
        """Called when the build phase of a process is over and no timed value was seen."""
        self.wrong: Reason | None = None
        self.isolation, self.log = "subprocess", ""
        self.libraries: dict[str, str] = {}
        self.timer: TimerName = "wall"

    def open(self) -> None:
        """Have the reference READY, and choose the timer."""
        self.progress("preparing the reference")
        self.reference: ReferenceProcess = self.session.reference(self.task)
        self.libraries = self.reference.facts["libraries"]
        self.timer = choose_timer(self.session.device, self.protocol.timer)
        self.deadline = time.monotonic() + self.protocol.evaluation_limit_s

    def limit_s(self, index: int, first: bool = False) -> float:
        """Seconds that one call on workload `index` may take: first calls may compile."""
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise CandidateFailed(
                ReasonCode.TIMEOUT, f"not done after {self.protocol.evaluation_limit_s:.0f} s", "timeout"
            )
        reference_s = float(self.reference.facts["workloads"][index]["seconds"])
        wanted = self.protocol.build_limit_s if first else max(30.0, 20 * reference_s)
        return min(left, wanted)

    def hold_against(self, reason: Reason) -> None:
        """Only the first is kept."""
        self.wrong = self.wrong or reason

    def fail(self, failure: CandidateFailed) -> None:
        """What the official evaluator would have said of workloads that had no status yet."""
        status = {ReasonCode.BUILD: Status.COMPILE_ERROR}.get(failure.code, official_status(failure))
        for workload in self.task.workloads:
            self.statuses.setdefault(workload.uuid, status)

    def saw_ratio(self, uuid: str, ratio: float) -> None:
        self.ratios[uuid] = min(ratio, self.ratios.get(uuid, 1.0))

    def verdict(self, reason: Reason | None, environment: Environment) -> Verdict:
        workloads = tuple(self._workload(index, reason) for index in range(len(self.task.workloads)))
        if any(w.matched_ratio is not None and self._is_fragile(w) for w in workloads):
            self.flags.add("FRAGILE")
        if self.protocol.official_rounds != OFFICIAL_ROUNDS or "shrunk" in self.task.marks:
            self.flags.add("NOT_STREAM_IDENTICAL")
        self.flags.update(flag for w in workloads for flag in w.flags)
        marks = {
            *self.task.marks,
            *((getattr(self, "reference", None) and self.reference.facts["marks"]) or ()),
        }
        return Verdict(
            task=self.task.name, task_digest=self.task.digest, candidate_digest=self.candidate.digest,
            status="rejected" if reason else "accepted", reason=reason, workloads=workloads,
            measurements=tuple(self.measurements), environment=environment, protocol=self.protocol.name,
            protocol_digest=self.protocol.digest, precision=self.protocol.precision, marks=tuple(sorted(marks)),
            flags=tuple(sorted(self.flags)), log=self.log,
        )  # fmt: skip

    def _workload(self, index: int, reason: Reason | None) -> WorkloadVerdict:
        workload = self.task.workloads[index]
        status = self.statuses.get(workload.uuid, Status.RUNTIME_ERROR)
        figures = self.figures.get(workload.uuid)
        held = reason is not None and reason.workload in (None, workload.uuid)
        latency = self._latency(workload.uuid)
        facts = self.reference.facts["workloads"][index] if hasattr(self, "reference") else {}
        return WorkloadVerdict(
            uuid=workload.uuid, axes=workload.axes, status=status, accepted=status == Status.PASSED and not held,
            max_absolute_error=figures.max_absolute_error if figures else None,
            max_relative_error=figures.max_relative_error if figures else None,
            has_nan=bool(figures and figures.has_nan), has_inf=bool(figures and figures.has_inf),
            matched_ratio=self.ratios.get(workload.uuid), latency_ms=latency,
            timer=self.timer if latency is not None else None, synthetic=bool(facts.get("synthetic")),
            busy_ms=busy_of(self.measurements, workload.uuid) if latency is not None else None,
            flags=timing_flags(self.measurements, workload.uuid) if latency is not None else (),
        )  # fmt: skip

    def _latency(self, uuid: str) -> float | None:
        """The median over processes of the official median of each; on a CPU of its measured calls."""
        wanted = "measured" if self.timer == "wall" else "official"
        return latency_of([m for m in self.measurements if m.kind == wanted], uuid)

    def _is_fragile(self, verdict: WorkloadVerdict) -> bool:
        required = next(
            w for w in self.task.workloads if w.uuid == verdict.uuid
        ).tolerance.required_matched_ratio
        return (verdict.matched_ratio or 0.0) < required + _FRAGILE_SHARE * (1 - required)


def official_status(failure: CandidateFailed) -> Status:
    return _STATUS_OF.get(failure.part, Status.RUNTIME_ERROR)
