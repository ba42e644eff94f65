"""Trace files: dropped keys, lines that contradict each other, workloads without a result."""

from collections.abc import Iterator, Sequence

from tasks.document import Document
from tasks.lint.keys import key_findings
from tasks.task import LintFinding
from tasks.trace import Trace
from tasks.workload import Workload

Traces = Sequence[tuple[Trace, Document]]


def trace_findings(traces: Traces, workloads: Sequence[Workload] | None = None) -> Iterator[LintFinding]:
    """`workloads` are those that should have been judged, when they are known."""
    seen: set[tuple[str | None, str]] = set()
    for trace, document in traces:
        yield from key_findings(trace, document)
        key = (trace.solution, trace.workload.uuid)
        if key in seen:
            yield document.finding(
                "warning",
                "doubled-trace",
                "workload.uuid",
                "has a trace above already",
                "keep one of the two",
            )
        seen.add(key)
        if trace.definition != traces[0][0].definition:
            yield document.finding(
                "warning",
                "mixed-definitions",
                "definition",
                f"is {trace.definition!r} and not {traces[0][0].definition!r}",
                "keep one file a definition",
            )
        if (trace.solution is None) != (trace.evaluation is None):
            yield document.finding(
                "warning",
                "half-trace",
                "evaluation",
                "and solution belong together, and one is missing",
                "give both, or neither for a bare workload",
            )
    yield from _unjudged(traces, workloads or ())


def _unjudged(traces: Traces, workloads: Sequence[Workload]) -> Iterator[LintFinding]:
    judged = {trace.workload.uuid for trace, _ in traces}
    missing = [workload.uuid for workload in workloads if workload.uuid not in judged]
    if traces and missing:
        yield LintFinding(
            level="warning",
            code="unjudged-workloads",
            file=traces[0][1].file,
            field="whole file",
            problem=f"lacks {len(missing)} of {len(workloads)} workloads, {missing[0]} first; each counts 0",
            mend="evaluate again: an exit code of 0 does not say that every workload ran",
        )
