"""The official timing loop on a GPU: uninterrupted, timed inside the worker, checked from outside."""

import math
import time
from typing import NamedTuple

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


class _Timed(NamedTuple):
    """What the records say of all timed calls of one workload."""

    times_ms: list[float]
    busy_ms: list[float] | None
    unsettled: int


def timed_pass(trial: Trial, worker: WorkerProcess, process: int) -> None:
    """Warm-up, discovery and timed calls for each workload; gives the official median, never more trust."""
    for index, workload in enumerate(trial.task.workloads):
        trial.progress(f"timing workload {index + 1} of {len(trial.task.workloads)}")
        call = trial.reference.ask(
            "timed", workload=index, index=_FIRST + process, dps=trial.dps, policy=trial.protocol.precision
        )
        try:
            timed = _one(trial, worker, index, call)
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
                times_ms=tuple(timed.times_ms),
                busy_ms=None if timed.busy_ms is None else tuple(timed.busy_ms),
                unsettled=timed.unsettled,
            )
        )


def _one(trial: Trial, worker: WorkerProcess, index: int, call: Message) -> _Timed:
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
    timed = believed(
        worker, answer, lambda r: _Timed(timer.times_ms(r), timer.busy_ms(r), timer.unsettled(r))
    )
    sane = len(timed.times_ms) == trial.protocol.timed_calls and all(0 < t < math.inf for t in timed.times_ms)
    if sane and timed.busy_ms is not None:
        sane = all(0 <= busy <= whole for busy, whole in zip(timed.busy_ms, timed.times_ms, strict=True))
    if not sane or sum(timed.times_ms) > bracket_ms + _SLACK_MS:
        raise CandidateFailed(
            ReasonCode.TIMING, "the claimed times do not fit what the guard's own clock saw", "timing"
        )
    return timed
