"""The lane: one candidate at a time before the judge, each once, and what it took kept with what was said."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from guard.errors import GuardBroken
from pipeline.journal import Event
from pipeline.ledger.amounts import NOTHING, Amounts
from pipeline.outcome import GATE
from pipeline.progress import Progress
from pipeline.run_folder import Outcome, Run, remembered
from tasks.candidate import Candidate

Judge = Callable[[Candidate], Outcome]
"""The verdict, and what is foreseen for the target; without a target GPU this is what ranks."""


def paid_for(outcome: Outcome) -> Amounts:
    """What judging it cost: whatever reached the device is a candidate, crash or not."""
    reason = outcome.verdict.reason
    reached = reason is None or reason.code not in GATE
    return outcome.cost + Amounts(candidates=int(reached), attempts=1)


@dataclass
class Lane:
    run: Run
    judge: Judge
    progress: Progress

    def outcome(self, candidate: Candidate) -> Outcome:
        """What the run remembers of `candidate`, or what is judged now and kept.

        Raises `GuardBroken` when the same candidate breaks the guard twice.
        """
        return remembered(
            self.run.outcome(candidate), lambda: self._measured(candidate), self.run.keep_outcome
        )

    def _measured(self, candidate: Candidate) -> Outcome:
        """Judged now; what it took is part of what is remembered, so that a replay counts the same."""
        began = time.monotonic()
        outcome = self._with_one_retry(candidate)
        if outcome.cost != NOTHING:
            return outcome  # a judge that keeps its own time
        took = int((time.monotonic() - began) * 1e6)
        return outcome.model_copy(update={"cost": Amounts(gpu_us=took, wall_us=took)})

    def _with_one_retry(self, candidate: Candidate) -> Outcome:
        """A machine hiccups once; twice on the same candidate is no hiccup."""
        try:
            return self.judge(candidate)
        except GuardBroken as error:
            self._note_broken(candidate, error)
        try:
            return self.judge(candidate)
        except GuardBroken as error:
            self._note_broken(candidate, error)
            raise

    def _note_broken(self, candidate: Candidate, error: GuardBroken) -> None:
        self.progress.note(f"the guard broke on {candidate.digest[:12]}: {error}")
        self.run.journal.append(
            Event(event="note", candidate=candidate.digest, text=f"the guard broke: {error}")
        )
