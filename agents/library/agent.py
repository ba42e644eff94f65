"""Rules applied together and one by one; a rule that is wrong by itself is given up."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from agents.library.rewriting import rewritten
from agents.library.rules import RULES, Consequence, Rule
from agents.library.source import module_source
from agents.listed import ListedAgent
from agents.proposal import Proposal
from agents.reading.reading import Reading
from agents.reading.straighten import NotStraight
from guard.verdict import Verdict
from tasks.candidate import Candidate
from tasks.solution import Hardware
from tasks.task import Task

Combination = tuple[Rule, ...]


class _Changes(Protocol):
    @property
    def consequence(self) -> Consequence: ...


class LibraryAgent(ListedAgent):
    """Most promising first: all rules that keep the precision, then all, each alone, and all but one."""

    def __init__(self, task: Task, seed: int, *, target: Hardware = Hardware.B200) -> None:
        self._rules_of: dict[Proposal, frozenset[str]] = {}
        self._wrong: set[str] = set()
        super().__init__("library", task, self._made(task), target)

    def tell(self, candidate: Candidate, verdict: Verdict, predicted_ms: float | None = None) -> None:
        """A rule whose effect alone was rejected is left out from then on."""
        proposal = self.proposal_of(candidate)
        if proposal is not None and verdict.status == "rejected" and len(self._rules_of[proposal]) == 1:
            self._wrong |= self._rules_of[proposal]

    def is_worth_asking(self, proposal: Proposal) -> bool:
        return not self._rules_of[proposal] & self._wrong

    def _made(self, task: Task) -> Iterator[Proposal]:
        for rules, source in rewritings(task):
            names = ", ".join(rule.name for rule in rules)
            proposal = Proposal(f"library calls by the rules {names} ({consequence(rules)})", source)
            self._rules_of[proposal] = frozenset(rule.name for rule in rules)
            yield proposal


def rewritings(task: Task) -> Iterator[tuple[Combination, str]]:
    """Every different source that a combination of rules makes, with the rules that took part in it."""
    try:
        reading = Reading(task.definition)
    except NotStraight:
        return
    applicable = [rule for rule in RULES.values() if rewritten(reading, rule) is not None]
    seen: set[str] = set()
    for wanted in _combinations(applicable):
        applied, source = _written(reading, wanted)
        if applied and source not in seen:
            seen.add(source)
            yield applied, source


def consequence(rules: Sequence[_Changes]) -> str:
    """The worst that any of them does to the numbers."""
    return max((rule.consequence for rule in rules), key=("exact", "reassociated", "lower-precision").index)


def _combinations(rules: list[Rule]) -> Iterator[Combination]:
    faithful = tuple(rule for rule in rules if rule.consequence != "lower-precision")
    yield tuple(rule for rule in faithful if not rule.is_gamble)
    yield faithful
    yield tuple(rules)
    for rule in rules:
        yield (rule,)
    for left_out in faithful:
        yield tuple(rule for rule in faithful if rule is not left_out)


def _written(reading: Reading, wanted: Combination) -> tuple[Combination, str]:
    """The rules of `wanted` that matched, one after the other, and the module they leave."""
    applied: list[Rule] = []
    for rule in wanted:
        after = rewritten(reading, rule)
        if after is not None:
            reading = after
            applied.append(rule)
    opening = (
        f"The reference with library calls where it spells them out: {', '.join(r.name for r in applied)}."
    )
    return tuple(applied), module_source(reading.straight, opening)
