"""What the guard says: verdicts, what was measured, and where. The only guard module that agents may import."""

import statistics
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Literal, Self

from pydantic import Field, model_validator

from tasks.trace import Status
from tasks.value import Value, digest_of


class ReasonCode(StrEnum):
    """The closed list of what a candidate can be rejected for."""

    PATH = "path"
    """A source file has a reserved name, shadows a module, or is binary; a forbidden compiler flag."""
    BUILD = "build"
    IMPORT = "import"
    RUNTIME = "runtime"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    INTERFACE = "interface"
    """Wrong number, type, shape, dtype or device of outputs, or outputs that are not plain tensors."""
    NUMERICAL = "numerical"
    UNWRITTEN = "unwritten"
    """Part of an output still held the poison that was put there before the call."""
    MUTATION = "mutation"
    """An input no longer holds what was written into it."""
    PRECISION = "precision"
    """Less accurate than the precision policy allows, though within the official tolerance."""
    TAMPER = "tamper"
    """A module, a timer, a mode or a global setting was changed and left so."""
    PROTOCOL = "protocol"
    """The worker died, spoke out of turn, or said something that is no reply."""
    LATE_WORK = "late-work"
    """Processes, threads or streams still at work after the reply."""
    TIMING = "timing"
    """No kernel activity, a changing set of kernels, a replayed result, or faster than physics allows."""


PrecisionPolicy = Literal["strict", "reference", "tolerance"]
TimerName = Literal["cupti", "cuda-events", "wall"]


class Reason(Value):
    code: ReasonCode
    message: str
    workload: str | None = None
    """uuid of the workload it showed on."""


class Measurement(Value):
    """Raw times of one workload in one process, in the order taken; kept for ever."""

    workload: str
    process: int
    timer: TimerName
    kind: Literal["measured", "official"]
    """`measured`: fresh values every call, every output checked. `official`: the evaluator's own loop."""
    times_ms: tuple[float, ...]
    busy_ms: tuple[float, ...] | None = Field(default=None, exclude_if=lambda busy: busy is None)
    """Of the same calls, how long at least one kernel, copy or memset ran; None where no activities were recorded.

    Not written where there is none, so that files from before it was kept stay what they are, byte by byte."""

    unsettled: int = Field(default=0, exclude_if=lambda calls: not calls)
    """Timed calls that passed before each ran the same kernels as the last; all where it never came to that."""


def deciding(measurements: Iterable[Measurement], workload: str) -> tuple[Measurement, ...]:
    """The measurements that a workload's latency comes from: the official loop's, else the guard's own calls."""
    own = [m for m in measurements if m.workload == workload]
    return tuple(m for m in own if m.kind == "official") or tuple(own)


def latency_of(measurements: Iterable[Measurement], workload: str) -> float | None:
    """Milliseconds, by a workload's uuid: the median over processes of each process's own median."""
    medians = [statistics.median(m.times_ms) for m in deciding(measurements, workload) if m.times_ms]
    return statistics.median(medians) if medians else None


class Environment(Value):
    """Where it was judged. Two results are compared only when these agree."""

    device: str
    """`cpu` with its model name, or the GPU's product name."""
    kind: Literal["cpu", "cuda"]
    uuid: str | None = None
    driver: str | None = None
    libraries: dict[str, str] = {}
    clocks: dict[str, float] = {}
    """MHz, before, during and after, as NVML or the SM counters gave them."""
    throttle_reasons: tuple[str, ...] = ()
    temperature_c: float | None = None
    other_processes: int = 0
    """Other compute processes seen on the GPU."""
    isolation: str = "subprocess"
    """Level reached, such as `memfd+netns+landlock+seccomp`."""


def joint_environment(parts: Sequence[Environment]) -> Environment:
    """Of one judgement in several `parts`: the last one's, with everything that disturbed any of them."""
    return parts[-1].model_copy(
        update={
            "throttle_reasons": tuple(sorted({r for part in parts for r in part.throttle_reasons})),
            "other_processes": max(part.other_processes for part in parts),
        }
    )


FLAGS = {
    "FRAGILE": "the share of matching elements is so near the official edge that another draw may fail",
    "NOT_STREAM_IDENTICAL": "the official random stream was not run whole (fewer rounds, or sizes scaled down), "
    "so error figures are not the public evaluator's",
    "UNSHIFTED_POINTERS": "inputs were too large to be copied to shifted addresses for the timed calls",
    "HOST_BOUND": "more than a tenth of the official time passes between kernels, waiting for the host",
    "LAUNCH_DOMINATED": "the official time is below three times that of a kernel that does nothing",
    "NOT_STEADY": "in most processes the times were still settling after half of the timed calls, or drifted to the end",
    "TIMER_DISAGREE": "the activity records of the guard's own calls do not fit its own clock, or are missing",
}
"""What the remarks of a verdict mean, for those who read them."""


class WorkloadVerdict(Value):
    uuid: str
    axes: dict[str, int]
    status: Status
    """As the official evaluator would say (`official_status`)."""
    accepted: bool
    max_absolute_error: float | None = None
    max_relative_error: float | None = None
    has_nan: bool = False
    has_inf: bool = False
    matched_ratio: float | None = None
    """Smallest share of elements within tolerance over all checked calls."""
    latency_ms: float | None = None
    """As `latency_of` computes it from the measurements; none when it was not timed."""
    timer: TimerName | None = None
    busy_ms: float | None = Field(default=None, exclude_if=lambda busy: busy is None)
    """As `two_times.busy_of` computes it: of `latency_ms`, the part in which the device worked."""
    flags: tuple[str, ...] = Field(default=(), exclude_if=lambda flags: not flags)
    """Remarks on this workload's times, such as `HOST_BOUND`; `FLAGS` says what they mean."""
    synthetic: bool = False
    note: str = ""


class Verdict(Value):
    """Accepted, or rejected with one reason. The official rounds give each workload's `status`; the guard's
    own calls, every one on fresh values and checked, give `status` here."""

    task: str
    task_digest: str
    candidate_digest: str
    status: Literal["accepted", "rejected"]
    reason: Reason | None = None
    workloads: tuple[WorkloadVerdict, ...]
    measurements: tuple[Measurement, ...] = ()
    environment: Environment
    protocol: str
    protocol_digest: str
    precision: PrecisionPolicy = "tolerance"
    marks: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    """Remarks that do not decide, such as `FRAGILE`, `HOST_BOUND`, `NO_ACCESS_TO_COUNTERS`."""
    advice: tuple[str, ...] = ()
    """What static reading noticed, with line numbers; never a reason to reject."""
    log: str = ""

    @property
    def digest(self) -> str:
        return digest_of(self.model_dump(mode="json"))

    @model_validator(mode="after")
    def _a_rejection_has_a_reason(self) -> Self:
        if (self.status == "rejected") != (self.reason is not None):
            raise ValueError("a verdict has a reason exactly when it rejects")
        return self
