"""Tolerances that are missing, incomplete, impossible, or so wide or narrow that they judge nothing."""

from collections.abc import Iterator

from tasks.definition import Definition, DType
from tasks.document import Document
from tasks.task import LintFinding
from tasks.workload import Tolerance, Workload

WIDE = 0.25
"""At this absolute or relative tolerance an all-wrong output of unit size can pass."""
NEGATIVE = "negative-tolerance"
"""The official models take it, so it loads; whoever is about to judge by it refuses it."""
_ROUNDING = {
    DType.FLOAT64: 2.0**-53,
    DType.FLOAT32: 2.0**-24,
    DType.FLOAT16: 2.0**-11,
    DType.BFLOAT16: 2.0**-8,
    DType.FLOAT8_E4M3FN: 2.0**-4,
    DType.FLOAT8_E5M2: 2.0**-3,
}
"""Largest relative error of one rounding to the nearest value of each type."""


def tolerance_findings(
    definition: Definition | None, workload: Workload, document: Document
) -> Iterator[LintFinding]:
    """`definition` says how finely outputs can be rounded, when it is known."""
    given = document.content.get("tolerance")
    defaults = Tolerance()
    applied = f"max_atol {defaults.max_atol}, max_rtol {defaults.max_rtol}"
    if given is None:
        yield document.finding(
            "warning",
            "missing-tolerance",
            "tolerance",
            f"is missing, so the defaults apply ({applied}, ratio {defaults.required_matched_ratio})",
            "state the tolerance that is meant",
        )
        return
    lacking = [key for key in ("max_atol", "max_rtol") if key not in given]
    if lacking:
        yield document.finding(
            "warning",
            "partial-tolerance",
            "tolerance",
            f"lacks {' and '.join(lacking)}, so the defaults apply ({applied})",
            "state the tolerance that is meant",
        )
    yield from _impossible(workload.tolerance, document)
    yield from _extreme(definition, workload.tolerance, document)


def _impossible(tolerance: Tolerance, document: Document) -> Iterator[LintFinding]:
    ratio = tolerance.required_matched_ratio
    if ratio > 1:
        yield document.finding(
            "error",
            "impossible-ratio",
            "tolerance.required_matched_ratio",
            f"is {ratio}, and no more than all elements can match",
            "give a share between 0 and 1",
        )
    elif ratio == 0:
        yield document.finding(
            "warning",
            "idle-tolerance",
            "tolerance.required_matched_ratio",
            f"is {ratio}, so that any output matches",
            "give a share between 0 and 1",
        )
    for key in ("max_atol", "max_rtol", "required_matched_ratio", "max_error_cap"):
        given = getattr(tolerance, key)
        if given is not None and given < 0:
            problem, mend = f"is {given:g}, by which nothing can be judged", "give at least 0"
            yield document.finding("warning", NEGATIVE, f"tolerance.{key}", problem, mend)


def _extreme(
    definition: Definition | None, tolerance: Tolerance, document: Document
) -> Iterator[LintFinding]:
    if max(tolerance.max_atol, tolerance.max_rtol) >= WIDE:
        yield document.finding(
            "note",
            "wide-tolerance",
            "tolerance",
            f"max_atol {tolerance.max_atol:g}, max_rtol {tolerance.max_rtol:g} may pass an output of zeros",
            "keep well inside it: reviewers may not accept what it lets through",
        )
    outputs = definition.outputs.values() if definition else ()
    coarsest = max((_ROUNDING.get(spec.dtype, 0.0) for spec in outputs), default=0.0)
    if 0 <= tolerance.max_rtol < coarsest / 2 and 0 <= tolerance.max_atol < coarsest / 2:
        yield document.finding(
            "note",
            "tight-tolerance",
            "tolerance",
            f"is below one rounding of an output's type ({coarsest:.1g})",
            "expect to need the reference's own order of rounding",
        )
