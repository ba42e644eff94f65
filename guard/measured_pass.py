"""The guard's own calls: fresh values every time, every output checked, in an order nobody can foresee."""

import math
import random
import time

from guard.bank import SEEDS
from guard.blame import CandidateFailed
from guard.channel import Message
from guard.claims import believed
from guard.kinds import ANOTHER_SIZE, BEYOND, NEVER_TIMED
from guard.processes import WorkerProcess
from guard.timers import TIMERS
from guard.timers.base import BadRecords, Records, Worked
from guard.trial import Trial
from guard.verdict import Measurement, PrecisionPolicy, Reason, ReasonCode

_BUILD_CALLS = 1
_CHILD_PATIENCE_S = 2.0
_WATCH_LIMIT_S = 30.0
_STRICTLY: dict[PrecisionPolicy, tuple[str, ...]] = {"strict": (BEYOND,), "reference": (), "tolerance": ()}
"""Values beyond those that a tolerance was measured on can be judged by the strict policy alone."""


def measured_pass(trial: Trial, worker: WorkerProcess, process: int, dice: random.Random) -> None:
    """Build calls for every workload, the seal, then all measured calls in random order over the workloads.

    Only calls on fresh values are timed. One call a workload varies what the official generator keeps constant,
    such as norm weights of one; two bring the last values back, at the same addresses, with a few elements or two
    exchanged. Under the policy `strict` one is on larger values than the generator makes.
    """
    workloads = range(len(trial.task.workloads))
    trial.progress(f"measured calls on {len(workloads)} workloads, process {process + 1}")
    calls = _BUILD_CALLS + trial.protocol.measured_calls
    bank = max(SEEDS[trial.session.device], calls)
    # number 0 is for building alone: what was seen by then may be carried into the next process
    seeds = {index: [*dice.sample(range(1, bank), calls - _BUILD_CALLS), 0] for index in workloads}
    last: dict[int, int] = {}
    for index in workloads:
        for _ in range(_BUILD_CALLS):
            last[index] = seeds[index].pop()
            _call(trial, worker, index, last[index], "fresh", first=True)
    _no_children(worker)
    worker.ask("seal", 30.0)
    trial.after_build()
    plan = [(index, "fresh") for index in workloads for _ in range(trial.protocol.measured_calls)]
    plan += [
        (index, kind) for index in workloads for kind in (*NEVER_TIMED, *_STRICTLY[trial.protocol.precision])
    ]
    dice.shuffle(plan)
    times: dict[int, list[float]] = {index: [] for index in workloads}
    trial.called_ms = {workload.uuid: [] for workload in trial.task.workloads}
    watches = TIMERS[trial.timer].watches
    if watches:
        worker.ask("watch", _WATCH_LIMIT_S, timer=trial.timer)
    for index, kind in plan:
        if kind == "fresh":
            last[index] = seeds[index].pop()
        seed = process % bank if kind in ANOTHER_SIZE else last[index]
        took = _call(trial, worker, index, seed, kind, first=False)
        trial.called_ms[trial.task.workloads[index].uuid].append(took)
        if kind == "fresh":
            times[index].append(took)
    _no_children(worker)
    worked = _worked(trial, worker, len(plan)) if watches else []
    for index, taken in times.items():
        uuid = trial.task.workloads[index].uuid
        own = [w for w, call in zip(worked, plan, strict=False) if call == (index, "fresh")]
        trial.worked_ms[uuid] = [w.once_ms for w in own]
        measurement = Measurement(
            workload=uuid, process=process, timer="wall", kind="measured", times_ms=tuple(taken),
            busy_ms=tuple(w.busy_ms for w in own) if own else None,
        )  # fmt: skip
        trial.measurements.append(measurement)


def _worked(trial: Trial, worker: WorkerProcess, calls: int) -> list[Worked]:
    """How long the device worked in each call since `watch`, as the worker recorded it."""

    def derive(records: Records) -> list[Worked]:
        worked = TIMERS[trial.timer].worked(records)
        if len(worked) != calls or not all(0 <= w.once_ms <= w.busy_ms < math.inf for w in worked):
            raise BadRecords("what is recorded of the guard's own calls does not fit them")
        return worked

    return believed(worker, worker.ask("watched", _WATCH_LIMIT_S), derive)


def _call(trial: Trial, worker: WorkerProcess, index: int, seed: int, kind: str, first: bool) -> float:
    """One call, checked; milliseconds on the guard's own clock from the request to the reply."""
    uuid = trial.task.workloads[index].uuid
    call = trial.reference.ask(
        "fresh", workload=index, index=seed, kind=kind, dps=trial.dps, policy=trial.protocol.precision
    )
    try:
        began = time.perf_counter()
        worker.ask(
            "call", trial.limit_s(index, first), arguments=call["arguments"], outputs=call["outputs"][0]
        )
        took = time.perf_counter() - began
    except CandidateFailed as failure:
        failure.workload = uuid
        raise
    hold(trial.reference.ask("fresh-check"), trial, uuid)
    return took * 1e3


def hold(answer: Message, trial: Trial, uuid: str) -> None:
    """A finding ends the trial."""
    finding = answer["finding"]
    if finding is not None:
        failure = CandidateFailed(ReasonCode(finding["code"]), finding["message"])
        failure.workload = uuid
        trial.hold_against(Reason(code=failure.code, message=failure.message, workload=uuid))
        raise failure
    trial.saw_ratio(uuid, answer["matched_ratio"])


def _no_children(worker: WorkerProcess) -> None:
    """Compilers may still be closing down; whatever stays is late work."""
    deadline = time.monotonic() + _CHILD_PATIENCE_S
    worker.thaw()
    while worker.children():
        if time.monotonic() > deadline:
            count = len(worker.children())
            raise CandidateFailed(
                ReasonCode.LATE_WORK, f"{count} processes are still alive after the call returned"
            )
        time.sleep(0.02)
