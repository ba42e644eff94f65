"""From a name to a task that is ready to be judged."""

from collections.abc import Sequence
from pathlib import Path

from tasks.catalogue import blob_roots, data_roots_or_default, find_task
from tasks.definition import Definition
from tasks.document import Document
from tasks.errors import TaskError
from tasks.lint.task import task_findings
from tasks.normalise import normalise_definition
from tasks.sources import SOURCES
from tasks.sources.base import RawTask, TaskEntry
from tasks.sources.folder import WORKLOADS
from tasks.task import LintFinding, Task
from tasks.validation import validated
from tasks.workload import Workload


def load(name: str, *, data_roots: Sequence[Path] = ()) -> Task:
    """The task that `name` means: a shipped alias, `Subset/NNN_name`, a unique `NNN_name`, or a folder.

    Without `data_roots` those of `$SOL_EXECBENCH_DATA` are searched. What the official models swallow is in
    `Task.findings`; `TaskError` says in one sentence what will certainly fail.
    """
    entry = find_task(name, data_roots)
    needed = entry.source != "shipped" or bool(data_roots)
    return load_entry(entry, data_roots_or_default(data_roots) if needed else ())


def load_entry(entry: TaskEntry, data_roots: Sequence[Path] = ()) -> Task:
    """The task of one listed entry."""
    return assemble(SOURCES[entry.source].read(entry), entry, data_roots)


def assemble(raw: RawTask, entry: TaskEntry, data_roots: Sequence[Path] = ()) -> Task:
    """Validate `raw`; `TaskError` on the first fault or finding of level error."""
    document, definition, normalised = read_definition(raw.definition)
    if not raw.workloads:
        raise _no_workload(raw.definition)
    workloads = tuple((validated(Workload, line), line) for line in raw.workloads)
    roots = blob_roots(Path(raw.folder), data_roots)
    findings = (*raw.findings, *normalised, *task_findings(definition, document, workloads, roots))
    refuse_errors(findings)
    return Task(
        name=entry.name,
        subset=entry.subset,
        source=entry.source,
        definition=definition,
        workloads=tuple(workload for workload, _ in workloads),
        blob_roots=roots,
        findings=findings,
    )


def read_definition(document: Document) -> tuple[Document, Definition, tuple[LintFinding, ...]]:
    """The normalised document, the definition in it, and what had to be normalised."""
    normalised, findings = normalise_definition(document)
    return normalised, validated(Definition, normalised), findings


def refuse_errors(findings: Sequence[LintFinding]) -> None:
    """`TaskError` for the first finding of level error."""
    for finding in findings:
        if finding.level == "error":
            raise TaskError(finding.problem, file=finding.file, field=finding.field, mend=finding.mend)


def _no_workload(definition: Document) -> TaskError:
    if not definition.place:  # a folder, where workloads have a file of their own
        path = Path(definition.file).with_name(WORKLOADS)
        return TaskError("holds no workload", file=path, mend="add one JSON object a line")
    return definition.fault("workloads", "holds no workload", "download the data set again")
