"""A recorded search played again: the same agents over the same verdicts must give the same events."""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from guard.errors import GuardBroken
from guard.protocol import Protocol
from guard.verdict import Verdict
from pipeline.blackboard.chain import BEGINNING, links
from pipeline.journal import Event, Journal, read_events
from pipeline.judging import Foreseen, Judging
from pipeline.prepare import prepare
from pipeline.progress import Silent
from pipeline.run_folder import JOURNAL, Header, Outcome, Run, header_in
from pipeline.search_setup import open_search
from tasks.candidate import Candidate
from tasks.errors import TaskError
from tasks.value import Value

OF_THE_SEARCH = frozenset({"final", "champion", "finished", "note"})
"""Events that are not the search's own."""


class Replayed(Value):
    """What came of playing a run again."""

    same: bool
    events: int
    """That are the same, from the first on."""
    hash: str
    """The last link of the chain over them."""
    differs: str = ""
    """The first that is not, as it was and as it is now."""

    @property
    def sentence(self) -> str:
        if self.same:
            return f"all {self.events} events are the same; the chain ends in {self.hash}"
        return f"{self.events} events are the same, then: {self.differs}"


def replayed(folder: Path) -> Replayed:
    """Raises `TaskError` when the folder holds no run or its task has changed."""
    content, events = read_events(folder / JOURNAL)
    header = header_in(folder, content)
    return compared(contents(events), contents(_again(folder, header, events)))


def compared(old: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> Replayed:
    same = next(
        (n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )
    chain = links(old[:same])
    is_same = same == len(old) == len(new)
    said = [json.dumps(some[same]) if same < len(some) else "nothing" for some in (old, new)]
    return Replayed(
        same=is_same,
        events=same,
        hash=chain[-1] if chain else BEGINNING,
        differs="" if is_same else f"it was {said[0]} and is {said[1]}",
    )


def contents(events: Sequence[Event]) -> list[dict[str, Any]]:
    """The search's own events, as they are hashed."""
    return [e.model_dump(mode="json", exclude_none=True) for e in events if e.event not in OF_THE_SEARCH]


class _Listed(Journal):
    """A journal in memory, of a search whose faults are known."""

    def __init__(self, recorded: Sequence[Event]) -> None:
        super().__init__(Path(), {}, list(recorded), -1)
        self.events: list[Event] = []

    def append(self, event: Event) -> None:
        self.events.append(event)


class _Recorded(Run):
    """A run that has judged all it will ever judge, and writes nothing."""

    def outcome(self, candidate: Candidate) -> Outcome:
        outcome = super().outcome(candidate)
        if outcome is None:
            raise GuardBroken(f"{candidate.digest[:12]} was never judged in {self.folder}")
        return outcome

    def outcomes(self) -> list[Outcome]:
        return []

    def keep_outcome(self, outcome: Outcome) -> None:
        """It is kept where it came from."""


def _again(folder: Path, header: Header, recorded: Sequence[Event]) -> list[Event]:
    prepared = prepare(header.settings, header.task, header.device, Silent())
    if prepared.judged.digest != header.task_digest:
        raise TaskError(
            "its task has changed since",
            file=folder,
            field="task_digest",
            mend="replay it with the old files",
        )
    judging = Judging(
        prepared=prepared,
        device=header.device,
        settings=header.settings,
        judge=_nothing_is_judged,
        foresee=_nothing_is_foreseen,
    )
    journal = _Listed(recorded)
    # what differs may be that it asks for what was never judged; the events show where
    with (
        open_search(_Recorded(folder, header, journal), judging, Silent(), again=True) as search,
        suppress(GuardBroken),
    ):
        search.go(header.budget)
    return journal.events


def _nothing_is_judged(candidate: Candidate, protocol: Protocol) -> Verdict:
    raise GuardBroken("a replay judges nothing")


def _nothing_is_foreseen(candidate: Candidate, targets: tuple[str, ...]) -> Foreseen:
    return (), None
