"""The admission audit of a task, asked of its reference process; the guard's side, without torch."""

from collections.abc import Callable

from guard.session import Session
from tasks.task import Task
from tasks.value import Value


class Finding(Value):
    """What the tolerance says of one alternative on one workload."""

    workload: str
    alternative: str
    meaning: str
    applies: bool
    passes: bool = False
    """By every draw tried."""
    matched_ratio: float | None = None
    """Smallest over the draws and the outputs; None where no ratio was taken."""
    required: float
    max_absolute_error: float = 0.0
    remark: str = ""


class Audit(Value):
    task: str
    task_digest: str
    device: str
    draws: int
    findings: tuple[Finding, ...]
    marks: tuple[str, ...] = ()

    @property
    def let_through(self) -> tuple[str, ...]:
        """Alternatives that pass some workload."""
        return tuple(dict.fromkeys(f.alternative for f in self.findings if f.passes))


def audit(
    task: Task, session: Session, draws: int = 2, progress: Callable[[str], None] = lambda _: None
) -> Audit:
    """Every alternative on every workload, on `draws` sets of values that nobody has seen."""
    reference = session.reference(task)
    findings: list[Finding] = []
    for number, workload in enumerate(task.workloads):
        progress(f"workload {number + 1} of {len(task.workloads)}")
        answers = [reference.ask("audit", workload=number, index=draw)["found"] for draw in range(draws)]
        required = workload.tolerance.required_matched_ratio
        findings += [_merged(workload.uuid, required, same) for same in zip(*answers, strict=True)]
    return Audit(
        task=task.name,
        task_digest=task.digest,
        device=session.device,
        draws=draws,
        findings=tuple(findings),
        marks=tuple(sorted({*task.marks, *reference.facts["marks"]})),
    )


def _merged(workload: str, required: float, draws: tuple[dict[str, object], ...]) -> Finding:
    """The worst of several draws; not applying to one is not applying."""
    shown = [Finding.model_validate({"workload": workload, "required": required, **draw}) for draw in draws]
    if not all(f.applies for f in shown):
        return next(f for f in shown if not f.applies)
    ratios = [f.matched_ratio for f in shown if f.matched_ratio is not None]
    return shown[0].model_copy(
        update={
            "passes": all(f.passes for f in shown),
            "matched_ratio": min(ratios) if ratios else None,
            "max_absolute_error": max(f.max_absolute_error for f in shown),
        }
    )
