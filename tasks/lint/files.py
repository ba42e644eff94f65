"""Linting the kinds of file there are. `TaskError` for one that cannot be read at all."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tasks.catalogue import blob_roots, find_task
from tasks.definition import Definition
from tasks.document import Document, read_json, read_json_lines
from tasks.errors import TaskError
from tasks.lint.keys import key_findings
from tasks.lint.reading import examine, examine_all
from tasks.lint.recorded import recorded_findings
from tasks.lint.solution import solution_findings
from tasks.lint.task import definition_findings, task_findings
from tasks.lint.tolerance import tolerance_findings
from tasks.lint.trace import trace_findings
from tasks.normalise import normalise_definition
from tasks.solution import Solution
from tasks.solution_file import read_solution
from tasks.sources import SOURCES
from tasks.sources.base import TaskEntry
from tasks.sources.folder import DEFINITION, WORKLOADS
from tasks.task import LintFinding
from tasks.trace import Trace
from tasks.workload import Workload


def lint_entry(entry: TaskEntry, data_roots: Sequence[Path]) -> Iterator[LintFinding]:
    """A whole task: definition, workloads, recorded inputs, and what lies beside them."""
    raw = SOURCES[entry.source].read(entry)
    roots = blob_roots(Path(raw.folder), data_roots)
    yield from raw.findings
    document, normalised = normalise_definition(raw.definition)
    yield from normalised
    definition, faults = examine(Definition, document)
    workloads, workload_faults = examine_all(Workload, raw.workloads)
    yield from (*faults, *workload_faults)
    if not raw.workloads:
        yield document.finding(
            "error", "no-workload", "", f"has no workload in {WORKLOADS}", "add one JSON object a line"
        )
    if definition is None:
        yield from (finding for pair in workloads for finding in key_findings(*pair))
        return
    yield from task_findings(definition, document, workloads, roots)
    for workload, line in workloads:
        yield from recorded_findings(definition, workload, line, roots)


def lint_definition(path: Path) -> Iterator[LintFinding]:
    """A definition file without its workloads."""
    document, normalised = normalise_definition(read_json(path))
    definition, faults = examine(Definition, document)
    yield from (*normalised, *faults)
    if definition is not None:
        yield from definition_findings(definition, document)


def lint_workloads(path: Path) -> Iterator[LintFinding]:
    """A workload file whose definition is not known."""
    workloads, faults = examine_all(Workload, read_json_lines(path))
    yield from faults
    for workload, document in workloads:
        yield from key_findings(workload, document)
        yield from tolerance_findings(None, workload, document)


def lint_solution(path: Path, data_roots: Sequence[Path]) -> Iterator[LintFinding]:
    """A solution file, against the definition beside it or else the task of that name, when there is one."""
    document, inlined = read_solution(path)
    solution, faults = examine(Solution, document)
    yield from (*inlined, *faults)
    if solution is None:
        return
    definition = _definition_for(solution, document, data_roots)
    yield from solution_findings(solution, document, definition)
    if definition is None:
        yield document.finding(
            "note",
            "unknown-definition",
            "definition",
            f"names {solution.definition!r}, which is no known task, so it was read by itself",
            "give the data root with --data, or correct the name",
        )


def lint_traces(path: Path) -> Iterator[LintFinding]:
    """A trace file, against the workloads beside it when there are any."""
    traces, faults = examine_all(Trace, read_json_lines(path))
    yield from faults
    beside = path.with_name(WORKLOADS)
    workloads = examine_all(Workload, read_json_lines(beside))[0] if beside.is_file() else []
    yield from trace_findings(traces, [workload for workload, _ in workloads])


def _definition_for(solution: Solution, document: Document, data_roots: Sequence[Path]) -> Definition | None:
    """None when there is none that can be used: then the solution is read by itself, and a note says so."""
    beside = Path(document.file).with_name(DEFINITION)
    try:
        if beside.is_file():
            raw = read_json(beside)
        else:
            entry = find_task(solution.definition, data_roots)
            raw = SOURCES[entry.source].read(entry).definition
    except TaskError:
        return None
    return examine(Definition, normalise_definition(raw)[0])[0]
