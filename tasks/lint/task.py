"""A definition with its workloads: everything that is checked when a task is loaded."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tasks.definition import Definition
from tasks.document import Document
from tasks.lint.axes import axis_findings, expression_findings, shape_findings
from tasks.lint.inputs import input_findings
from tasks.lint.keys import key_findings
from tasks.lint.tolerance import tolerance_findings
from tasks.task import LintFinding
from tasks.workload import Workload

NO_OUTPUTS = "no-outputs"
Workloads = Sequence[tuple[Workload, Document]]


def task_findings(
    definition: Definition, document: Document, workloads: Workloads, blob_roots: Sequence[str]
) -> Iterator[LintFinding]:
    """`document` holds the definition; each workload comes with its own."""
    given = [set(workload.axes) for workload, _ in workloads]
    own = [*definition_findings(definition, document, set.intersection(*given) if given else set())]
    yield from own
    sized = all(finding.level != "error" for finding in own)
    yield from _doubled_uuids(workloads)
    for workload, line in workloads:
        yield from key_findings(workload, line)
        yield from tolerance_findings(definition, workload, line)
        yield from axis_findings(definition, workload, line)
        if sized:  # else it has been said where the fault lies, in the definition
            yield from shape_findings(definition, workload, line)
        yield from input_findings(definition, workload, line, blob_roots)
    if workloads and not any(workload.tolerance.max_error_cap is not None for workload, _ in workloads):
        share = 1 - min(workload.tolerance.required_matched_ratio for workload, _ in workloads)
        first = workloads[0][1]
        yield LintFinding(
            level="note",
            code="no-error-cap",
            file=first.file,
            field="tolerance.max_error_cap",
            problem=f"is set by no workload, so {share:.2%} of all elements may be wrong by any amount",
            mend="keep to the tolerance everywhere",
        )


def definition_findings(
    definition: Definition, document: Document, given: set[str] | None = None
) -> Iterator[LintFinding]:
    """A definition by itself; `given` are axes to which every workload gives a value."""
    yield from key_findings(definition, document)
    yield from expression_findings(definition, document, given or set())
    if not definition.outputs:
        yield document.finding(
            "warning", NO_OUTPUTS, "outputs", "is empty, so nothing is compared", "name what `run` returns"
        )


def _doubled_uuids(workloads: Workloads) -> Iterator[LintFinding]:
    counts = Counter(workload.uuid for workload, _ in workloads)
    for workload, document in workloads:
        if counts[workload.uuid] > 1:
            yield document.finding(
                "error",
                "doubled-uuid",
                "uuid",
                f"{workload.uuid[:60]!r} stands {counts[workload.uuid]} times; results are told apart by it",
                "give each workload its own uuid",
            )
