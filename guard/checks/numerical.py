"""The official tolerance, on values that nobody has seen before."""

from guard.checks.base import CallRecord, Finding
from guard.verdict import ReasonCode


def numerical(record: CallRecord) -> Finding | None:
    for name, figures in zip(record.names, record.figures, strict=True):
        if not figures.passes:
            wrong = (
                "NaN or infinity"
                if figures.has_nan or figures.has_inf
                else f"matched {figures.matched_ratio:.4%}"
            )
            detail = f"{wrong}, largest absolute error {figures.max_absolute_error:.4g}"
            return Finding(
                code=ReasonCode.NUMERICAL, message=f"output {name!r} is outside the tolerance: {detail}"
            )
    return None
