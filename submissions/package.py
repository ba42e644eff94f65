"""`package`: from a task, a candidate and the verdict on it to a submission, by a pure function."""

from collections.abc import Iterator

from guard.verdict import Verdict
from submissions.agreement import disagreements
from submissions.evidence import Evidence
from submissions.facts import EVALUATOR, CandidateRecord, Facts, Provenance, Target, TaskRecord, timing_of
from submissions.samples import Samples
from submissions.submission import Submission
from submissions.transfer.finding import CannotTransfer
from submissions.transfer.moved import Moved
from submissions.transfer.rules import transfer
from submissions.upload import upload
from tasks.candidate import Candidate
from tasks.document import parse_json
from tasks.lint.solution import solution_findings
from tasks.solution import Solution
from tasks.solution_file import SOLUTION, write_solution
from tasks.task import LintFinding, Task
from tasks.value import digest_of


def package(
    task: Task, candidate: Candidate, verdict: Verdict, *, target: Target = "B200", context: Provenance
) -> Submission:
    """The submission of `candidate`, ready for the board or a draft that says why.

    `ValueError` when the verdict rejects, is about something else, or does not agree with its own samples;
    `CannotTransfer` when what was judged elsewhere must not ship for `target` (ADR 65).
    """
    for objection in _objections(task, candidate, verdict, context):
        raise ValueError(f"cannot package: {objection}")
    record = CandidateRecord.of(candidate)
    solution = upload(
        record,
        candidate.solution.sources,
        definition=task.definition.name,
        target=target,
        verdict=verdict,
    )
    facts = _facts(task, record, verdict, target, solution, context)
    refused = [finding.sentence for finding in facts.transfer if finding.ruling == "refuse"]
    if refused:
        raise CannotTransfer(f"cannot package {candidate.digest[:12]} for {target}: {'; '.join(refused)}")
    return Submission(
        evidence=Evidence.of(facts),
        solution=solution,
        workloads=task.workloads,
        measurements=verdict.measurements,
        reference=context.reference,
    )


def _facts(
    task: Task,
    record: CandidateRecord,
    verdict: Verdict,
    target: Target,
    solution: Solution,
    context: Provenance,
) -> Facts:
    moved = Moved(record.spec, solution.sources, verdict.environment, target, context.compile_reports)
    return Facts(
        task=TaskRecord.of(task),
        candidate=record,
        target=target,
        verdict=verdict.model_copy(update={"measurements": ()}),
        verdict_digest=verdict.digest,
        samples_digest=Samples(verdict.measurements, context.reference).digest,
        solution_digest=digest_of(solution.model_dump(mode="json")),
        protocol=context.protocol,
        judged_at=context.judged_at,
        command=context.command,
        lint=(*_lint(solution, task), *context.lint),
        compile_reports=tuple(r.model_copy(update={"seconds": 0.0}) for r in context.compile_reports),
        predictions=context.predictions,
        transfer=transfer(moved),
        passed_over=context.passed_over,
        dataset_revision=context.dataset_revision,
        sol_table=context.sol_table,
        versions=context.versions,
        evaluator=EVALUATOR,
        timing=timing_of(verdict),
    )


def _lint(solution: Solution, task: Task) -> Iterator[LintFinding]:
    """Of the file as it will be uploaded, not of the one that was handed in."""
    document = parse_json(write_solution(solution), SOLUTION)
    return solution_findings(solution, document, task.definition)


def _objections(task: Task, candidate: Candidate, verdict: Verdict, context: Provenance) -> Iterator[str]:
    if verdict.reason is not None:
        yield f"the verdict rejects the candidate ({verdict.reason.code}: {verdict.reason.message})"
    if candidate.definition_digest != task.definition.digest:
        yield "the candidate was made for another definition"
    if verdict.candidate_digest != candidate.digest:
        yield f"the verdict is about candidate {verdict.candidate_digest[:12]}, not {candidate.digest[:12]}"
    if verdict.task_digest != task.digest:
        yield f"the verdict is about task {verdict.task_digest[:12]}, not {task.digest[:12]}"
    if verdict.protocol_digest != context.protocol.digest:
        yield "the verdict was made under another protocol"
    if verdict.precision != context.protocol.precision:
        yield f"the verdict says precision {verdict.precision}, its protocol {context.protocol.precision}"
    samples = Samples(verdict.measurements, context.reference)
    for disagreement in disagreements(verdict, samples, task.workloads):
        yield f"{disagreement.field}: {disagreement.problem}"
