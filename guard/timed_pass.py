"""The official timing loop on a GPU: uninterrupted, timed inside the worker, checked from outside."""

import math
import time

from guard.blame import CandidateFailed
from guard.channel import Message
from guard.claims import believed
from guard.measured_pass import hold
from guard.processes import WorkerProcess
from guard.timers import TIMERS
from guard.trial import Trial
from guard.verdict import Measurement, ReasonCode
from tasks.trace import Status

_SHIFT_COPY_LIMIT = 16 << 30
_SLACK_MS = 0.05
_FIRST = 1 << 20
"""Seeds of this pass lie beyond those of any bank."""


def timed_pass(trial: Trial, worker: WorkerProcess, process: int) -> None:
    """Warm-up, discovery and timed calls for each workload; gives the official median, never more trust."""
    for index, workload in enumerate(trial.task.workloads):
        trial.progress(f"timing workload {index + 1} of {len(trial.task.workloads)}")
        call = trial.reference.ask(
            "timed", workload=index, index=_FIRST + process, dps=trial.dps, policy=trial.protocol.precision
        )
        try:
            times, busy = _one(trial, worker, index, call)
        except CandidateFailed as failure:
            failure.workload = workload.uuid
            trial.statuses[workload.uuid] = Status.RUNTIME_ERROR
            raise
        calls = trial.protocol.warmup_calls + 1 + trial.protocol.timed_calls
        hold(trial.reference.ask("timed-check", calls=calls), trial, workload.uuid)
        trial.measurements.append(
            Measurement(
                workload=workload.uuid,
                process=process,
                timer=trial.timer,
                kind="official",
                times_ms=tuple(times),
                busy_ms=busy,
            )
        )


def _one(
    trial: Trial, worker: WorkerProcess, index: int, call: Message
) -> tuple[list[float], tuple[float, ...] | None]:
    """Of each timed call the official time, and how long the device worked where that is recorded."""
    shifted = trial.reference.facts["workloads"][index]["input_bytes"] <= _SHIFT_COPY_LIMIT
    if not shifted:
        trial.flags.add("UNSHIFTED_POINTERS")
    began = time.perf_counter()
    answer = worker.ask(
        "time", trial.limit_s(index, first=True), arguments=call["arguments"], slots=call["outputs"], timer=trial.timer,
        warmup=trial.protocol.warmup_calls, timed=trial.protocol.timed_calls, shifted=shifted,
    )  # fmt: skip
    bracket_ms = (time.perf_counter() - began) * 1e3
    timer = TIMERS[trial.timer]
    times, busy = believed(worker, answer, lambda records: (timer.times_ms(records), timer.busy_ms(records)))
    sane = len(times) == trial.protocol.timed_calls and all(0 < t < math.inf for t in times)
    sane = sane and (busy is None or all(0 <= b <= t for b, t in zip(busy, times, strict=True)))
    if not sane or sum(times) > bracket_ms + _SLACK_MS:
        raise CandidateFailed(
            ReasonCode.TIMING, "the claimed times do not fit what the guard's own clock saw", "timing"
        )
    return times, None if busy is None else tuple(busy)
