"""The reference's side of the audit: alternatives made, and compared as the official evaluator compares."""

from typing import Any

from guard.audit.alternatives import ALTERNATIVES
from guard.audit.base import Alternative
from guard.bank import Drawn
from guard.channel import Message
from guard.compare import NOTHING_YET, compare_round
from guard.reference_failure import ReferenceFailed
from guard.reference_values import Values
from tasks.workload import Tolerance


def audit_answers(values: Values, workload: int, index: int) -> Message:
    """What the workload's tolerance says of each alternative on values number `index`."""
    drawn = values.fresh(workload, index, "fresh")
    tolerance = values.task.workloads[workload].tolerance
    return {"found": [_found(values, a, drawn, tolerance) for a in ALTERNATIVES.values()]}


def _found(values: Values, alternative: Alternative, drawn: Drawn, tolerance: Tolerance) -> dict[str, Any]:
    named = {"alternative": alternative.name, "meaning": alternative.meaning}
    try:
        outputs = alternative.make(
            drawn.inputs, drawn.expected, lambda inputs: values.answer(inputs).expected
        )
    except ReferenceFailed as error:
        return {**named, "applies": False, "remark": str(error)}
    if outputs is None:
        return {**named, "applies": False}
    status, figures = compare_round(outputs, drawn.expected, tolerance, NOTHING_YET)
    return {
        **named, "applies": True, "passes": status is None, "matched_ratio": figures.matched_ratio,
        "max_absolute_error": figures.correctness.max_absolute_error,
    }  # fmt: skip
