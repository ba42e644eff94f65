"""What a run judges with, put together once: the task, the device, and the two callables that decide."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from guard.compile_report import CompileReport, Prediction
from guard.errors import GuardBroken
from guard.protocol import Protocol
from guard.verdict import Verdict
from pipeline.device import Chosen
from pipeline.prepare import Prepared
from pipeline.progress import Progress
from pipeline.ranking import geometric_mean
from pipeline.run_folder import Outcome
from pipeline.settings import Settings
from tasks.candidate import Candidate

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
        with ThreadPoolExecutor(1) as beside:
            foreseen = beside.submit(self.foresee, candidate, (TARGETS[self.settings.target],))
            verdict = self.judge(candidate, protocol)
            return self._with_prediction(candidate, verdict, *foreseen.result())

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
    """The real thing: one guard session over the device, held until the run is left."""
    from guard.judge import judge
    from guard.session import Session

    with (
        TemporaryDirectory(prefix="kernelarc-") as scratch,
        Session(device, inputs=settings.inputs) as session,
    ):
        yield Judging(
            prepared=prepared,
            device=device,
            settings=settings,
            judge=lambda candidate, protocol: judge(prepared.judged, candidate, protocol, session),
            foresee=cross_compiler(settings, prepared, progress, Path(scratch)),
        )


def cross_compiler(settings: Settings, prepared: Prepared, progress: Progress, scratch: Path) -> Foresee:
    """Compiles for the target and predicts on the full-size workloads; what breaks there foresees nothing."""

    def foresee(candidate: Candidate, targets: tuple[str, ...]) -> Foreseen:
        from guard.cross_compile import examine
        from tasks.gpu import load_gpu

        hardware = load_gpu(HARDWARE[settings.target])
        try:
            return examine(candidate, prepared.asked, targets, hardware, scratch, prepared.small)
        except GuardBroken as error:
            progress.note(f"{candidate.digest[:12]} could not be compiled for {', '.join(targets)}: {error}")
            return (), None

    return foresee
