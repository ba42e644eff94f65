"""The guard's own calls: fresh values every time, every output checked, in an order nobody can foresee."""

import random
import time

from guard.blame import CandidateFailed
from guard.channel import Message
from guard.processes import WorkerProcess
from guard.trial import Trial
from guard.verdict import Measurement, Reason, ReasonCode

BANK = {"cuda": 64, "cpu": 4}
"""Seeds a workload, so that their values may be kept between candidates; none is used twice in one process.
On a CPU hardly more than a process needs: drawing is what costs there, and no candidate is told of another's."""
_BUILD_CALLS = 1
_CHILD_PATIENCE_S = 2.0


def measured_pass(trial: Trial, worker: WorkerProcess, process: int, dice: random.Random) -> None:
    """Build calls for every workload, the seal, then all measured calls in random order over the workloads.

    Only calls on fresh values are timed. One call a workload varies what the official generator keeps constant,
    such as norm weights of one; two bring the last values back, at the same addresses, with few elements exchanged.
    """
    workloads = range(len(trial.task.workloads))
    trial.progress(f"measured calls on {len(workloads)} workloads, process {process + 1}")
    calls = _BUILD_CALLS + trial.protocol.measured_calls
    bank = max(BANK[trial.session.device], calls)
    seeds = {index: dice.sample(range(bank), calls) for index in workloads}
    last: dict[int, int] = {}
    for index in workloads:
        for _ in range(_BUILD_CALLS):
            last[index] = seeds[index].pop()
            _call(trial, worker, index, last[index], "fresh", first=True)
    _no_children(worker)
    worker.ask("seal", 30.0)
    plan = [(index, "fresh") for index in workloads for _ in range(trial.protocol.measured_calls)]
    plan += [(index, kind) for index in workloads for kind in ("varied", "near", "near")]
    dice.shuffle(plan)
    times: dict[int, list[float]] = {index: [] for index in workloads}
    for index, kind in plan:
        if kind == "fresh":
            last[index] = seeds[index].pop()
        seed = process % bank if kind == "varied" else last[index]
        took = _call(trial, worker, index, seed, kind, first=False)
        if kind == "fresh":
            times[index].append(took)
    _no_children(worker)
    for index, taken in times.items():
        uuid = trial.task.workloads[index].uuid
        measurement = Measurement(
            workload=uuid, process=process, timer="wall", kind="measured", times_ms=tuple(taken)
        )
        trial.measurements.append(measurement)


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
