"""`kernelarc submit`, line by line: each line's result is the next line's argument."""

import json
import shlex
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import agents
from guard.errors import GuardBroken
from guard.verdict import Measurement
from pipeline.journal import Event
from pipeline.judging import TARGETS, Foreseen, Judging
from pipeline.language_models import MODEL_AGENT
from pipeline.progress import Progress
from pipeline.protocols import protocol_for
from pipeline.run_folder import Final, Outcome, Run, remembered
from pipeline.search_setup import open_search
from pipeline.settings import OF_A_MODEL, Settings
from submissions.facts import Provenance
from submissions.package import package
from submissions.submission import Submission
from submissions.transfer.finding import CannotTransfer
from submissions.versions import installed
from submissions.write import ROOT, write
from tasks.candidate import Candidate
from tasks.definition import Definition
from tasks.document import Document
from tasks.errors import TaskError
from tasks.lint import solution_findings
from tasks.revision import dataset_revision
from tasks.solution import Solution
from tasks.solution_file import SOLUTION, write_solution
from tasks.task import LintFinding
from tasks.value import Value


class Submitted(Value):
    """Where a submission is, and what it amounts to."""

    folder: Path
    digest: str
    readiness: str
    performance: str
    reasons: tuple[str, ...]
    candidate: str
    agent: str
    strategy: str


def submit(run: Run, judging: Judging, progress: Progress, out: Path | None = None) -> Submitted | None:
    """The submission of the best candidate that holds in fresh processes; None when there is none.

    `out` is where it is kept, in place of what the run was begun with.
    """
    found = search(run, judging, progress)
    submission = first_that_may_ship(run, judging, found, progress)
    if submission is None:
        return None
    folder = write(submission, out or run.header.settings.out or ROOT)
    run.journal.append(
        Event(event="finished", candidate=submission.evidence.candidate.digest, text=str(folder))
    )
    return _submitted(submission, folder)


def search(run: Run, judging: Judging, progress: Progress) -> list[Outcome]:
    """The accepted outcomes of the run's search, best first."""
    with open_search(run, judging, progress) as looking:
        return looking.go(run.header.budget)


def first_that_may_ship(
    run: Run, judging: Judging, found: Sequence[Outcome], progress: Progress
) -> Submission | None:
    """Of the best that holds; where it must not ship for the target, of the next best, which says so."""
    passed_over: tuple[str, ...] = ()
    while (champion := confirm(run, judging, found, progress)) is not None:
        try:
            return packaged(run, judging, *champion, passed_over=passed_over)
        except CannotTransfer as refusal:
            run.journal.append(Event(event="note", candidate=champion[0].digest, text=str(refusal)))
            progress.note(f"{refusal}; the next best is tried")
            passed_over = (*passed_over, str(refusal))
        place = next(n for n, outcome in enumerate(found) if outcome.candidate.digest == champion[0].digest)
        found = found[place + 1 :]
    return None


def confirm(
    run: Run, judging: Judging, found: Sequence[Outcome], progress: Progress
) -> tuple[Candidate, Final, Foreseen] | None:
    """The best that is accepted once more in fresh processes: what found it never is what is submitted.

    With it comes what the target, and its predecessor, would make of it.
    """
    targets = tuple(dict.fromkeys((TARGETS[judging.settings.target], *TARGETS.values())))
    for outcome in found:
        candidate = outcome.candidate
        progress.note(f"judging {candidate.digest[:12]} again in fresh processes")
        with judging.foreseeing(candidate, targets) as foreseen:
            final = _final(run, judging, candidate)
        reason = final.verdict.reason.code if final.verdict.reason else None
        run.journal.append(
            Event(event="final", candidate=candidate.digest, status=final.verdict.status, reason=reason)
        )
        if reason is None:
            run.journal.append(Event(event="champion", agent=candidate.agent, candidate=candidate.digest))
            return candidate, final, foreseen()
        progress.note(f"it did not hold ({reason}); the next best is tried")
    return None


def packaged(
    run: Run,
    judging: Judging,
    candidate: Candidate,
    final: Final,
    foreseen: Foreseen,
    passed_over: tuple[str, ...] = (),
) -> Submission:
    """Put together with all that is known of it."""
    reports, prediction = foreseen
    context = Provenance(
        protocol=final.protocol,
        judged_at=final.judged_at,
        command=command_of(run),
        lint=_lint(candidate.solution, judging.prepared.asked.definition),
        compile_reports=reports,
        predictions=() if prediction is None else (prediction,),
        reference=_reference_times(run, judging, candidate, final),
        versions=installed(),
        dataset_revision=dataset_revision(judging.prepared.asked),
        sol_table=_sol_table(judging),
        passed_over=passed_over,
    )
    target = judging.settings.target
    return package(judging.prepared.judged, candidate, final.verdict, target=target, context=context)


def command_of(run: Run) -> str:
    """The command that makes the same search again."""
    header, settings = run.header, run.header.settings
    return (
        f"kernelarc submit {header.task} --budget {header.budget} --agents {','.join(header.agents)} "
        f"--seed {settings.seed} --device {header.device} --target {settings.target} "
        f"--precision {settings.precision} --inputs {settings.inputs}"
        f"{_chosen(settings, of_a_model=MODEL_AGENT in header.agents)}"
    )


def _chosen(settings: Settings, of_a_model: bool) -> str:
    """What changes a search and is not as it is by default."""
    names = (
        "memory", "workers", "policy", "patience", "max_seconds", "max_gpu_seconds", "max_tokens", "max_dollars",
        *(OF_A_MODEL if of_a_model else ()),
    )  # fmt: skip
    chosen = {name: getattr(settings, name) for name in names}
    return "".join(
        f" --{name.replace('_', '-')} {shlex.quote(str(value))}"
        for name, value in chosen.items()
        if value != Settings.model_fields[name].default
    )


def _lint(solution: Solution, definition: Definition) -> tuple[LintFinding, ...]:
    """What the official reader would silently swallow in the file that is about to be written."""
    document = Document(file=SOLUTION, content=json.loads(write_solution(solution)))
    return tuple(solution_findings(solution, document, definition))


def _sol_table(judging: Judging) -> str | None:
    """The published table of T_SOL that stands beside the problem, by its name, revision and digest."""
    from pipeline.score import tables_for

    try:
        table = tables_for(judging.settings, judging.prepared.asked.name, None).t_sol
    except TaskError:
        return None
    made = table.provenance
    return f"{made.source} {made.revision} for {made.hardware}, {table.digest[:12]}"


def _final(run: Run, judging: Judging, candidate: Candidate, processes: int | None = None) -> Final:
    protocol = protocol_for("final", judging.device, judging.settings, judging.prepared.judged)
    if processes is not None:
        protocol = protocol.model_copy(update={"processes": processes})
    return remembered(
        run.final(candidate, protocol),
        lambda: Final(
            verdict=judging.judge(candidate, protocol),
            protocol=protocol,
            judged_at=datetime.now(UTC).isoformat(timespec="seconds"),
        ),
        run.keep_final,
    )


def _reference_times(
    run: Run, judging: Judging, candidate: Candidate, final: Final
) -> tuple[Measurement, ...]:
    """The reference's own times on the same GPU, from one process; none where times mean nothing."""
    reference = agents.create("reference", judging.prepared.asked, 0).ask()
    if judging.device == "cpu" or reference is None:
        return ()
    if reference.digest == candidate.digest:
        return final.verdict.measurements
    try:
        return _final(run, judging, reference, processes=1).verdict.measurements
    except GuardBroken as error:
        run.journal.append(Event(event="note", text=f"the reference was not timed: {error}"))
        return ()


def _submitted(submission: Submission, folder: Path) -> Submitted:
    evidence = submission.evidence
    return Submitted(
        folder=folder,
        digest=submission.digest,
        readiness=submission.readiness,
        performance=evidence.performance,
        reasons=evidence.reasons,
        candidate=evidence.candidate.digest,
        agent=evidence.candidate.agent,
        strategy=evidence.candidate.strategy,
    )


def summary(submitted: Submitted, run: Run) -> dict[str, Any]:
    """The shape that `submit --json` prints."""
    return {**submitted.model_dump(mode="json"), "task": run.header.task, "run": str(run.folder)}
