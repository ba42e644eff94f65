"""`verify`: everything that a submission's folder says, computed again from its bytes.

It shows that the files belong together and say nothing that they do not bear out. It cannot show who made
them: whoever makes a whole folder anew, samples included, makes one that verifies.
"""

from collections.abc import Iterator
from pathlib import Path

from submissions.agreement import disagreements
from submissions.discrepancy import Discrepancy, differences, unreadable
from submissions.evidence import Evidence
from submissions.facts import TaskRecord, timing_of
from submissions.files import EVIDENCE, REPORT, SUMS, TRACES, sums
from submissions.read import Pieces, read_pieces
from submissions.report import report
from submissions.submission import Submission, shelf
from submissions.transfer.finding import TransferFinding
from submissions.transfer.moved import Moved
from submissions.transfer.rules import transfer
from submissions.upload import upload
from submissions.versions import installed
from tasks.candidate import Candidate
from tasks.solution_file import SOLUTION
from tasks.task import Task
from tasks.value import digest_of


def verify(folder: Path, task: Task | None = None) -> tuple[Discrepancy, ...]:
    """What does not hold, file by file; empty when all holds. `TaskError` when `folder` is no folder.

    With `task`, loaded again from where it came, the digests of what was asked are computed again too.
    """
    pieces = read_pieces(folder)
    return tuple(_all(folder, pieces, task))


def _all(folder: Path, pieces: Pieces, task: Task | None) -> Iterator[Discrepancy]:
    yield from pieces.discrepancies
    yield from _sums(pieces.content)
    if pieces.evidence is not None:
        yield from _derived(EVIDENCE, _amounts_to(pieces.evidence))
        yield from _place(folder.resolve(), pieces.evidence)
    submission = pieces.submission
    if submission is None:
        return
    yield from _derived(EVIDENCE, _digests(submission))
    yield from _derived(SOLUTION, _solution(submission))
    yield from _derived(EVIDENCE, _transfer(submission))
    figures = [
        Discrepancy(file=EVIDENCE, field=d.field, problem=d.problem)
        for d in disagreements(submission.evidence.verdict, submission.samples, submission.workloads)
    ]
    yield from figures
    if not any(d.field == "verdict.workloads" for d in figures):
        yield from _derived(TRACES, _traces(submission, pieces))
        yield from _derived(REPORT, _report(submission, pieces.content))
    if task is not None:
        yield from _task(submission.evidence.task, TaskRecord.of(task))


def _derived(file: str, check: Iterator[Discrepancy]) -> Iterator[Discrepancy]:
    """Readable facts may still give no valid `file`: a spec without its sources, a device without a name."""
    try:
        yield from check
    except ValueError as error:
        cause = unreadable(file, error)
        yield Discrepancy(
            file=file, field=cause.field, problem=f"the evidence gives no such file: {cause.problem}"
        )


def _sums(content: dict[str, bytes]) -> Iterator[Discrepancy]:
    if SUMS not in content:
        return
    expected, found = sums(content), content[SUMS]
    listed = set(found.splitlines())
    for line in expected.splitlines():
        digest, name = line.decode().split("  ")
        if line not in listed:
            problem = f"its sha256 is {digest[:12]}..., which is not what {SUMS} lists"
            yield Discrepancy(file=name, field="sha256", problem=problem)
    if found != expected:
        yield Discrepancy(file=SUMS, field="content", problem="it is not the list of these files")


def _amounts_to(evidence: Evidence) -> Iterator[Discrepancy]:
    """Digest, readiness and the rest that follows from the facts; and the facts among themselves."""
    yield from differences(EVIDENCE, Evidence.of(evidence).content, evidence.content)
    verdict, protocol = evidence.verdict, evidence.protocol
    stated = {
        "verdict.status": ("accepted", verdict.status),
        "verdict.candidate_digest": (evidence.candidate.digest, verdict.candidate_digest),
        "verdict.task_digest": (evidence.task.digest, verdict.task_digest),
        "verdict.protocol": (protocol.name, verdict.protocol),
        "verdict.protocol_digest": (protocol.digest, verdict.protocol_digest),
        "verdict.precision": (protocol.precision, verdict.precision),
        "timing": (list(timing_of(verdict)), list(evidence.timing)),
    }
    for field, (expected, found) in stated.items():
        yield from differences(EVIDENCE, expected, found, field)


def _place(folder: Path, evidence: Evidence) -> Iterator[Discrepancy]:
    """Where submissions are kept the digest names the folder, and a draft never lies among what is ready.

    That holds on a shelf of another name too. Anywhere else a folder may be called what its owner likes: its
    content says which it is.
    """
    names = folder.parts[-4:-1]
    kept = names[1:] == shelf(evidence.task) and names[0] in ("ready", "draft")
    if kept and folder.name != evidence.digest[:12]:
        problem = f"its content is that of {evidence.digest[:12]}: rename it to that, or keep it elsewhere"
        yield Discrepancy(file=folder.name, field="name of the folder", problem=problem)
    nearest = next((name for name in reversed(names) if name in ("ready", "draft")), None)
    if kept or nearest == "ready":
        yield from differences(str(folder.name), evidence.readiness, nearest, "place of the folder")


def _digests(submission: Submission) -> Iterator[Discrepancy]:
    evidence = submission.evidence
    judged = Candidate(
        solution=submission.solution.model_copy(update={"spec": evidence.candidate.spec}),
        definition_digest=evidence.task.definition_digest,
    )
    computed = {
        "verdict_digest": (submission.verdict.digest, evidence.verdict_digest),
        "samples_digest": (submission.samples.digest, evidence.samples_digest),
        "solution_digest": (digest_of(submission.solution.model_dump(mode="json")), evidence.solution_digest),
        "candidate.digest": (judged.digest, evidence.candidate.digest),
        "task.workloads_digest": (
            digest_of([w.model_dump(mode="json") for w in submission.workloads]),
            evidence.task.workloads_digest,
        ),
    }
    for field, (expected, found) in computed.items():
        yield from differences(EVIDENCE, expected, found, field)
    for field, file in (("solution_digest", SOLUTION), ("task.workloads_digest", TRACES)):
        if computed[field][0] != computed[field][1]:
            yield Discrepancy(file=file, field="content", problem=f"its digest is not the evidence's {field}")


def _solution(submission: Submission) -> Iterator[Discrepancy]:
    evidence, found = submission.evidence, submission.solution
    expected = upload(
        evidence.candidate,
        found.sources,
        definition=evidence.task.definition,
        target=evidence.target,
        verdict=evidence.verdict,
    )
    yield from differences(SOLUTION, expected.model_dump(mode="json"), found.model_dump(mode="json"))


def _transfer(submission: Submission) -> Iterator[Discrepancy]:
    """What the sources carry over, read again; and nothing that is refused may lie in a submission."""
    evidence = submission.evidence
    spec, device = evidence.candidate.spec, evidence.verdict.environment
    moved = Moved(spec, submission.solution.sources, device, evidence.target, evidence.compile_reports)
    expected = transfer(moved)
    yield from differences(EVIDENCE, _plain(expected), _plain(evidence.transfer), "transfer")
    for finding in expected:
        if finding.ruling == "refuse":
            problem = f"it must not ship for {evidence.target}: {finding.sentence}"
            yield Discrepancy(file=SOLUTION, field="sources", problem=problem)


def _plain(findings: tuple[TransferFinding, ...]) -> list[dict[str, str]]:
    return [finding.model_dump(mode="json") for finding in findings]


def _traces(submission: Submission, pieces: Pieces) -> Iterator[Discrepancy]:
    triples = zip(submission.traces, pieces.traces or (), submission.evidence.verdict.workloads, strict=True)
    for number, (expected, found, judged) in enumerate(triples, start=1):
        line = f"line {number}: "
        yield from differences(TRACES, expected.model_dump(mode="json"), found.model_dump(mode="json"), line)
        yield from differences(TRACES, judged.axes, found.workload.axes, f"{line}workload.axes")


def _report(submission: Submission, content: dict[str, bytes]) -> Iterator[Discrepancy]:
    expected, found = report(submission).encode().splitlines(True), content.get(REPORT, b"").splitlines(True)
    if REPORT not in content or expected == found:
        return
    pairs = enumerate(zip(expected, found, strict=False), start=1)
    line = next((n for n, (a, b) in pairs if a != b), min(len(expected), len(found)) + 1)
    made_by, here = submission.evidence.versions.get("kernelarc"), installed()["kernelarc"]
    other = "" if made_by in (None, here) else f" (made by kernelarc {made_by}, this is {here})"
    yield Discrepancy(
        file=REPORT, field=f"line {line}", problem=f"it is not what the evidence renders{other}"
    )


def _task(recorded: TaskRecord, loaded: TaskRecord) -> Iterator[Discrepancy]:
    for field in ("definition", "digest", "definition_digest", "workloads_digest"):
        yield from differences(EVIDENCE, getattr(loaded, field), getattr(recorded, field), f"task.{field}")
