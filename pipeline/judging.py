"""What a run judges with, put together once: the task, the device, and the two callables that decide."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from guard.compile_report import CompileReport, Prediction
from guard.errors import GuardBroken
from guard.protocol import Protocol
from guard.verdict import Verdict
from pipeline.device import Chosen
from pipeline.heartbeat import Heartbeat
from pipeline.prepare import Prepared
from pipeline.progress import Progress
from pipeline.ranking import geometric_mean
from pipeline.run_folder import Outcome
from pipeline.settings import Settings
from tasks.candidate import Candidate

if TYPE_CHECKING:
    from guard.programs import Programs

JudgeUnder = Callable[[Candidate, Protocol], Verdict]
Foreseen = tuple[tuple[CompileReport, ...], Prediction | None]
Foresee = Callable[[Candidate, tuple[str, ...]], Foreseen]

TARGETS = {"B200": "sm_100a", "LOCAL": "sm_90a"}
HARDWARE = {"B200": "B200", "LOCAL": "H200"}


@dataclass(frozen=True)
class Judging:
    """`judge` and `foresee` are arguments, so that a test gives fakes and a developer recorded verdicts."""

    prepared: Prepared
    device: Chosen
    settings: Settings
    judge: JudgeUnder
    foresee: Foresee

    @property
    def by_measurement(self) -> bool:
        """On a GPU its own times rank; elsewhere what is predicted for the target."""
        return self.device == "cuda"

    def outcome(self, candidate: Candidate, protocol: Protocol) -> Outcome:
        """The verdict, and, where it must rank, what the target would make of the candidate.

        The two are found side by side: judging waits for one process after another, and leaves a core free.
        """
        if self.by_measurement:
            return Outcome(candidate=candidate, verdict=self.judge(candidate, protocol))
        with self.foreseeing(candidate, (TARGETS[self.settings.target],)) as foreseen:
            verdict = self.judge(candidate, protocol)
            return self._with_prediction(candidate, verdict, *foreseen())

    @contextmanager
    def foreseeing(self, candidate: Candidate, targets: tuple[str, ...]) -> Iterator[Callable[[], Foreseen]]:
        """What `foresee` says, found beside what the body does; where the body measures, not before it is asked."""
        if self.by_measurement:
            yield lambda: self.foresee(candidate, targets)
            return
        with ThreadPoolExecutor(1) as beside:
            yield beside.submit(self.foresee, candidate, targets).result

    def _with_prediction(
        self,
        candidate: Candidate,
        verdict: Verdict,
        reports: tuple[CompileReport, ...],
        prediction: Prediction | None,
    ) -> Outcome:
        workloads = prediction.workloads if prediction else ()
        if len(workloads) < len(self.prepared.asked.workloads):
            workloads = ()  # a mean over some of them would rank what could not be followed as fast
        return Outcome(
            candidate=candidate,
            verdict=verdict,
            predicted_ms=geometric_mean([w.predicted_ms for w in workloads]),
            launches=sum(w.launches for w in workloads) if workloads else None,
            builds_for_target=not any(report.refused for report in reports) if reports else None,
        )


@contextmanager
def open_judging(
    settings: Settings, prepared: Prepared, device: Chosen, progress: Progress
) -> Iterator[Judging]:
    """The real thing: one guard session over the device, or nodes that hold theirs, until the run is left."""
    from guard.programs import Programs

    with ExitStack() as stack:
        scratch = Path(stack.enter_context(TemporaryDirectory(prefix="kernelarc-")))
        # a GPU's search examines its champion alone, which is no reason to keep an interpreter
        programs = stack.enter_context(Programs(scratch)) if device == "cpu" else None
        judge_with = _on_nodes if settings.cluster else _here
        yield Judging(
            prepared=prepared,
            device=device,
            settings=settings,
            judge=judge_with(settings, prepared, device, progress, stack),
            foresee=cross_compiler(settings, prepared, progress, scratch, programs),
        )


def _here(
    settings: Settings, prepared: Prepared, device: Chosen, progress: Progress, stack: ExitStack
) -> JudgeUnder:
    from guard.judge import judge
    from guard.session import Session

    session = stack.enter_context(Session(device, inputs=settings.inputs))
    session.begin()

    def judge_alive(candidate: Candidate, protocol: Protocol) -> Verdict:
        with Heartbeat(progress.note, f"judging {candidate.digest[:12]}") as alive:
            return judge(prepared.judged, candidate, protocol, session, alive.note)

    return judge_alive


def _on_nodes(
    settings: Settings, prepared: Prepared, device: Chosen, progress: Progress, stack: ExitStack
) -> JudgeUnder:
    from pipeline.cluster import open_lane

    lane = stack.enter_context(
        open_lane(str(settings.cluster), prepared.judged, device, inputs=settings.inputs)
    )
    progress.note(f"judging on {lane.kind.nodes} nodes with {lane.kind.name}")
    return lane.judge


def cross_compiler(
    settings: Settings,
    prepared: Prepared,
    progress: Progress,
    scratch: Path,
    programs: "Programs | None" = None,
) -> Foresee:
    """Compiles for the target and predicts on the full-size workloads; what breaks there foresees nothing.

    What is known of a candidate is kept: the champion is compiled for the other targets alone.
    """
    known: dict[tuple[str, str], CompileReport] = {}
    predicted: dict[str, Prediction] = {}

    def foresee(candidate: Candidate, targets: tuple[str, ...]) -> Foreseen:
        from guard.cross_compile import examine
        from tasks.gpu import load_gpu

        digest = candidate.digest
        missing = tuple(target for target in targets if (digest, target) not in known)
        hardware = None if digest in predicted else load_gpu(HARDWARE[settings.target])
        try:
            if missing or hardware is not None:
                reports, prediction = examine(
                    candidate, prepared.asked, missing, hardware, scratch, prepared.small, programs=programs
                )
                known.update({(digest, target): r for target, r in zip(missing, reports, strict=True)})
                predicted.update({digest: prediction} if prediction is not None else {})
        except GuardBroken as error:
            progress.note(f"{digest[:12]} could not be compiled for {', '.join(targets)}: {error}")
            return (), None
        return tuple(known[digest, target] for target in targets), predicted.get(digest)

    return foresee
