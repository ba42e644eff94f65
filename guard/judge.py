"""`judge`: is this candidate right, is it fast, and how sure are we.

The flow can be read here; each step has a file of its own.
"""

import random
import secrets
import time
from collections.abc import Callable

from guard.blame import CandidateFailed
from guard.environment import Watch
from guard.headers import is_wanted, lay_headers
from guard.host_time import hidden_host_time
from guard.languages import Entry, build
from guard.measured_pass import measured_pass
from guard.official_pass import official_rounds
from guard.processes import WorkerProcess
from guard.protocol import Protocol
from guard.replay import replayed
from guard.runner import cpp_compiler_major
from guard.session import Session
from guard.staging import Stage, path_fault
from guard.timed_pass import timed_pass
from guard.trial import Trial
from guard.verdict import Reason, ReasonCode, Verdict
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.task import Task

Progress = Callable[[str], None]
_GIB = 1 << 30
_PAGE = 4096
_MOST_PAGES = 1 << 16
_NOTICE_LIMIT_S = 30.0
_KNOWS_ALL_X86 = 12
"""A g++ of this version compiles for every extension that torch.compile may choose (AMX came with 11)."""
_OF_VALUES = (ReasonCode.NUMERICAL, ReasonCode.PRECISION)


def judge(
    task: Task, candidate: Candidate, protocol: Protocol, session: Session, progress: Progress | None = None
) -> Verdict:
    """The verdict on `candidate`. Raises `GuardBroken` when none is possible, `TaskError` when the task is at fault.

    `session` keeps what may be kept between candidates (inputs, expected values, builds, the pre-imported
    zygote) and holds the device. What does not fit in memory or cannot run here is `GuardBroken`.
    """
    trial = Trial(task, candidate, protocol, session, progress or (lambda _: None))
    with Watch(session.device) as watch:
        reason = path_fault(candidate)
        stage = Stage(candidate, session.scratch)
        trial.after_build = stage.carried.take
        try:
            if session.device == "cpu" and is_wanted(candidate):
                stage.readable = lay_headers(stage.scratch)
            if reason is None:
                reason = _try(trial, stage, watch)
                _reference_repeats(trial, reason)
        finally:
            stage.remove()
    return trial.verdict(reason, watch.environment(trial.isolation, trial.libraries))


def _try(trial: Trial, stage: Stage, watch: Watch) -> Reason | None:
    """Build and run; the first thing held against the candidate, or None."""
    trial.open()
    try:
        entry = build(trial.candidate, stage, trial.protocol.build_limit_s, trial.session.device)
        for number in range(trial.protocol.processes):
            trial.progress(f"process {number + 1} of {trial.protocol.processes}")
            try:
                with start_worker(trial, stage) as worker:
                    try:
                        run_process(trial, stage, worker, entry, number, random.Random(secrets.randbits(64)))
                    finally:
                        trial.log = worker.log_tail()
            finally:
                stage.lift()
            watch.look()
            if trial.wrong is not None:
                return trial.wrong
    except CandidateFailed as failure:
        trial.fail(failure)
        return failure.reason
    return trial.wrong


def _reference_repeats(trial: Trial, reason: Reason | None) -> None:
    """`TaskError` when wrong values are no candidate's fault: the reference itself does not repeat its own."""
    if reason is None or reason.code not in _OF_VALUES:
        return
    for index, workload in enumerate(trial.task.workloads):
        if workload.uuid == reason.workload and not trial.reference.ask("repeats", workload=index)["same"]:
            raise TaskError(
                "gives other outputs when it is called again: it draws at random, or changes its inputs",
                file=trial.task.name, field="reference", mend="nothing can be compared with it",
            )  # fmt: skip


def run_process(
    trial: Trial, stage: Stage, worker: WorkerProcess, entry: Entry, number: int, dice: random.Random
) -> None:
    """All that one fresh process does; `dice` settle values and order of the measured calls."""
    load(trial, stage, worker, entry)
    run_passes(trial, worker, number, dice)


def run_passes(trial: Trial, worker: WorkerProcess, number: int, dice: random.Random) -> None:
    """What follows the import: checked calls, timed calls, and a look at what was changed."""
    if number == 0:
        official_rounds(trial, worker)
        if trial.wrong is not None:
            return
    measured_pass(trial, worker, number, dice)
    if trial.timer != "wall":
        timed_pass(trial, worker, number)
        _nothing_hidden(trial, number)
    _nothing_changed(trial, worker)


def _nothing_hidden(trial: Trial, number: int) -> None:
    """The official times of this process beside those of the guard's own calls."""
    for workload in trial.task.workloads:
        own = [m for m in trial.measurements if m.workload == workload.uuid and m.process == number]
        official = [t for m in own if m.kind == "official" for t in m.times_ms]
        called, worked = trial.called_ms.get(workload.uuid, ()), trial.worked_ms.get(workload.uuid, ())
        for reason in (
            hidden_host_time(workload.uuid, called, official),
            replayed(workload.uuid, official, worked),
        ):
            if reason is not None:
                trial.hold_against(reason)


def _nothing_changed(trial: Trial, worker: WorkerProcess) -> None:
    """What the worker noticed of its surroundings; less exact flags are legal where the tolerance alone decides."""
    changes = worker.ask("tamper", _NOTICE_LIMIT_S).get("changes")
    if not isinstance(changes, list) or not all(isinstance(c, list) and len(c) == 2 for c in changes):
        raise CandidateFailed(ReasonCode.PROTOCOL, "the worker answered something else than was asked")
    for kind, said in changes:
        if kind == "changed" or trial.protocol.precision != "tolerance":
            raise CandidateFailed(ReasonCode.TAMPER, str(said))


def drawn_pad() -> int:
    """Bytes that a process of a comparison sets aside first, so that what follows lies elsewhere each time."""
    return _PAGE * (1 + secrets.randbelow(_MOST_PAGES))


def start_worker(trial: Trial, stage: Stage, pad_bytes: int = 0) -> WorkerProcess:
    """It starts at once; entering it waits until it is READY."""
    memory = int(trial.protocol.host_memory_gib * _GIB)
    told = told_on_a_cpu() if trial.session.device == "cpu" else {}
    return trial.session.worker(trial.reference, stage, memory, told, pad_bytes)


def told_on_a_cpu() -> dict[str, str]:
    """Triton interprets, and torch.compile believes the CPU's own flags.

    Else it builds small programs for ten seconds, in every worker anew, to learn what the compiler can do of them.
    It builds two kernels at a time: the reference, whose core the second takes, waits meanwhile. They are built by
    threads; the processes that torch would keep for other compilers, and that would count as late work, never start.
    """
    known = {"TORCHINDUCTOR_VEC_ISA_OK": "1"} if cpp_compiler_major() >= _KNOWS_ALL_X86 else {}
    side_by_side = {"TORCHINDUCTOR_COMPILE_THREADS": "2", "TORCH_WARM_POOL": "0"}
    return {"TRITON_INTERPRET": "1", **side_by_side, **known}


def load(trial: Trial, stage: Stage, worker: WorkerProcess, entry: Entry) -> None:
    """Lay the candidate's files before a worker that is READY, and have them imported."""
    trial.isolation = worker.isolation
    stage.lay()
    file, module, function = entry
    began = time.monotonic()
    try:
        worker.ask(
            "load", trial.protocol.build_limit_s, file=file, module=module, function=function, dps=trial.dps,
            names=list(trial.task.definition.outputs), dtypes=trial.output_dtypes,
        )  # fmt: skip
    except CandidateFailed as failure:
        if failure.code == ReasonCode.RUNTIME:
            failure.code = ReasonCode.IMPORT
        raise
    trial.progress(f"imported in {time.monotonic() - began:.1f} s")
