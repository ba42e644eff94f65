"""The official tolerance, on values that nobody has seen before."""

from guard.checks.base import CallRecord, Finding
from guard.compare import Figures
from guard.verdict import ReasonCode


def numerical(record: CallRecord) -> Finding | None:
    for name, figures in zip(record.names, record.figures, strict=True):
        if not figures.passes and not (record.is_beyond and _is_finite(figures)):
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


def _is_finite(figures: Figures) -> bool:
    return not (figures.has_nan or figures.has_inf)
