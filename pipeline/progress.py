"""How far a run is: a bar with the best so far on a terminal, plain lines elsewhere; always on stderr."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

import click

from pipeline.ranking import latency_ms
from pipeline.run_folder import Outcome
from tasks.candidate import Candidate

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


class Progress(Protocol):
    """What a run says while it works."""

    def note(self, text: str) -> None: ...
    def begin(self, budget: int) -> None: ...
    def asked(self, agent: str, candidate: Candidate) -> None: ...
    def judged(self, outcome: Outcome, best: Outcome | None) -> None: ...


class Silent:
    """The null object."""

    def note(self, text: str) -> None: ...
    def begin(self, budget: int) -> None: ...
    def asked(self, agent: str, candidate: Candidate) -> None: ...
    def judged(self, outcome: Outcome, best: Outcome | None) -> None: ...


class Lines:
    """One line an event, for logs and pipes."""

    def __init__(self) -> None:
        self._budget = self._done = 0

    def note(self, text: str) -> None:
        click.echo(text, err=True)

    def begin(self, budget: int) -> None:
        self._budget = budget

    def asked(self, agent: str, candidate: Candidate) -> None:
        return None

    def judged(self, outcome: Outcome, best: Outcome | None) -> None:
        self._done += 1
        click.echo(f"[{self._done}/{self._budget}] {line_of(outcome)}{best_so_far(best)}", err=True)


class Bar:
    """A bar that stays at the foot of the terminal; use as a context manager."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        self._bar: RichProgress = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[best]}"),
            console=Console(stderr=True),
        )
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def note(self, text: str) -> None:
        self._bar.console.print(text, highlight=False, markup=False)

    def begin(self, budget: int) -> None:
        self._task = self._bar.add_task("searching", total=budget, best="")

    def asked(self, agent: str, candidate: Candidate) -> None:
        if self._task is not None:
            self._bar.update(self._task, description=f"{agent}: {candidate.strategy}"[:40])

    def judged(self, outcome: Outcome, best: Outcome | None) -> None:
        self._bar.console.print(line_of(outcome), highlight=False, markup=False)
        if self._task is not None:
            self._bar.update(self._task, advance=1, best=best_so_far(best).lstrip("; "))


def progress() -> "Lines | Bar":
    return Bar() if sys.stderr.isatty() else Lines()


def line_of(outcome: Outcome) -> str:
    candidate, verdict = outcome.candidate, outcome.verdict
    said = verdict.status if verdict.reason is None else f"{verdict.status} ({verdict.reason.code})"
    return f"{candidate.digest[:12]} {candidate.agent}: {candidate.strategy or '-'}: {said}{figure(outcome)}"


def figure(outcome: Outcome) -> str:
    """`predicted` unless it was measured on a GPU: a CPU's wall clock says nothing about the target."""
    if outcome.verdict.environment.kind == "cuda" and (time := latency_ms(outcome.verdict)) is not None:
        return f", {time:.4g} ms"
    return "" if outcome.predicted_ms is None else f", {outcome.predicted_ms:.4g} ms predicted"


def best_so_far(best: Outcome | None) -> str:
    return "" if best is None else f"; best {best.candidate.digest[:12]}{figure(best)}"
