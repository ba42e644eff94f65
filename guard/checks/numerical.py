"""The official tolerance, on values that nobody has seen before."""

from guard.checks.base import CallRecord, Finding
from guard.compare import compare
from guard.verdict import ReasonCode


def numerical(record: CallRecord) -> Finding | None:
    for name, output, expected in zip(record.names, record.outputs, record.expected, strict=True):
        figures = compare(output, expected, record.tolerance)
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
