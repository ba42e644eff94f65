"""The ten official correctness rounds, in the official order and random stream; they give `official_status`."""

from guard.blame import CandidateFailed
from guard.channel import Message
from guard.processes import WorkerProcess
from guard.trial import Trial, official_status
from guard.verdict import Reason, ReasonCode
from tasks.trace import Correctness, Status

_REASON_OF = {
    Status.INCORRECT_SHAPE: (ReasonCode.INTERFACE, "an output has the wrong shape"),
    Status.INCORRECT_DTYPE: (ReasonCode.INTERFACE, "an output has the wrong dtype"),
}


def official_rounds(trial: Trial, worker: WorkerProcess) -> None:
    """Every workload in file order; a workload that fails ends there, as officially, and the stream goes on."""
    history: list[int] = []
    for index, workload in enumerate(trial.task.workloads):
        trial.progress(f"official rounds: workload {index + 1} of {len(trial.task.workloads)}")
        drawn, status = _rounds(trial, worker, index, history)
        history.append(drawn)
        trial.statuses[workload.uuid] = status


def _rounds(trial: Trial, worker: WorkerProcess, index: int, history: list[int]) -> tuple[int, Status]:
    uuid = trial.task.workloads[index].uuid
    for round_ in range(trial.protocol.official_rounds):
        call = trial.reference.ask("official", workload=index, round=round_, history=history, dps=trial.dps)
        try:
            worker.ask(
                "call",
                trial.limit_s(index, first=round_ == 0),
                arguments=call["arguments"],
                outputs=call["outputs"][0],
            )
        except CandidateFailed as failure:
            failure.workload = uuid
            if failure.fatal:
                raise
            trial.hold_against(failure.reason)
            return round_ + 1, official_status(failure)
        answer = trial.reference.ask("official-check")
        trial.figures[uuid] = Correctness(**answer["correctness"])
        status = Status(answer["status"])
        if status != Status.PASSED:
            trial.hold_against(_reason(status, uuid, round_, answer))
            return round_ + 1, status
        trial.saw_ratio(uuid, answer["matched_ratio"])
    return trial.protocol.official_rounds, Status.PASSED


def _reason(status: Status, uuid: str, round_: int, answer: Message) -> Reason:
    if status in _REASON_OF:
        code, said = _REASON_OF[status]
        return Reason(code=code, message=said, workload=uuid)
    kept = answer["correctness"]
    not_finite = kept["has_nan"] or kept["has_inf"]
    wrong = "NaN or infinity" if not_finite else f"matched {answer['matched_ratio']:.4%}"
    said = f"official round {round_}: {wrong}, largest absolute error {kept['max_absolute_error']:.4g}"
    return Reason(code=ReasonCode.NUMERICAL, message=said, workload=uuid)
