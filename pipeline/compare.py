"""Two solutions of one task, measured against each other."""

from pathlib import Path
from tempfile import TemporaryDirectory

from guard.duel_record import Header, Published
from guard.terms import TermsName
from pipeline.device import choose_device
from pipeline.evaluate import read_candidate, reference_of
from pipeline.prepare import load, prepare_task
from pipeline.progress import Progress
from pipeline.settings import Settings
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.task import Task
from tasks.value import Value

REFERENCE = "reference"


class Compared(Value):
    """What `kernelarc compare` found."""

    header: Header
    published: Published


def compare(
    settings: Settings,
    name: str,
    two: tuple[str, str],
    protocol: TermsName,
    progress: Progress,
    *,
    out: Path | None = None,
    max_seconds: float | None = None,
    paired: bool = False,
    clocks: str | None = None,
) -> Compared:
    """Measure, or go on measuring, both under `protocol`; each is a solution file or `reference`.

    `clocks` is a preset or `SM/MEMORY` to lock; without it clocks are left alone. Raises `TaskError` when
    `out` was begun under other conditions, `GuardBroken` when nothing could be measured here.
    """
    from guard.campaign import Campaign
    from guard.clock_lock import clocks_of, locked
    from guard.comparison import CannotReject
    from guard.duel import duel
    from guard.duel_header import header_of
    from guard.session import Session
    from guard.terms import terms_for

    wanted = clocks_of(clocks) if clocks else None
    device = choose_device(settings.device)
    task = load(settings, name)
    baseline, candidate = (_read(one, task, progress) for one in two)
    prepared = prepare_task(settings, task, device, progress)
    limits = {
        "precision": settings.precision, "build_limit_s": settings.build_limit_s,
        "evaluation_limit_s": settings.evaluation_limit_s, "host_memory_gib": settings.host_memory_gib,
    }  # fmt: skip
    terms = terms_for(protocol, device, paired)
    terms = terms.model_copy(update={"process": terms.process.model_copy(update=limits)})
    with (
        locked(wanted, device) as policy,
        Session(device, inputs=settings.inputs) as session,
        TemporaryDirectory(prefix="kernelarc-") as spare,
    ):
        try:
            header = header_of(prepared.judged, baseline, candidate, terms, session, policy)
        except CannotReject as refusal:
            raise TaskError(
                str(refusal), field="--protocol", mend="take `gate`, or fewer workloads"
            ) from None
        with Campaign.open(out or Path(spare) / "measurements.jsonl", header) as campaign:
            published = duel(
                prepared.judged, baseline, candidate, campaign.header, session, keep=campaign.keep,
                done=campaign.done, max_seconds=max_seconds, progress=progress.note,
            )  # fmt: skip
            campaign.keep(published)
        return Compared(header=campaign.header, published=published)


def _read(one: str, task: Task, progress: Progress) -> Candidate:
    return reference_of(task) if one == REFERENCE else read_candidate(Path(one), task, progress)
