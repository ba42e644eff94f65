"""Drift alarms: what a submission was made with, and what holds now, are no longer the same.

Scores of two evaluation stacks do not compare, T_SOL of nine problems was republished once, and a data set
may change below a kernel that was right. Each alarm names what changed and what to do.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from leaderboard.desk import Ledger, Sent
from tasks.value import Value

What = Literal["evaluator", "data", "t_sol", "stack"]
MENDS: dict[What, str] = {
    "evaluator": "judge it again with this version, and read what changed in the evaluator",
    "data": "verify it against the data set's new revision before it is sent again",
    "t_sol": "its expected score has changed: plan again",
    "stack": "scores of two stacks do not compare: send it again if the place matters",
}


class Alarm(Value):
    what: What
    task: str
    then: str
    now: str

    def __str__(self) -> str:
        return (
            f"{self.task}: {self.what} was {_short(self.then)} and is {_short(self.now)}; {MENDS[self.what]}"
        )


def stated_by(evaluator: str, data: str, t_sol: str | None) -> dict[str, str]:
    """What is noted of an upload: the evaluator, the digest of definition and workloads, that of the T_SOL table."""
    return {"evaluator": evaluator, "data": data, **({"t_sol": t_sol} if t_sol else {})}


def alarms(ledger: Ledger, now: Mapping[str, Mapping[str, str]]) -> tuple[Alarm, ...]:
    """Of every task's newest upload, what differs from `now`, by task; what either side does not know is passed
    over. The stack comes from the results: the board's is the one that the newest result names."""
    newest = {sent.task: sent for sent in ledger.sent}
    found = [
        alarm for task, sent in sorted(newest.items()) for alarm in _differences(sent, now.get(task, {}))
    ]
    return (*found, *_stacks(ledger, newest.values()))


def _differences(sent: Sent, now: Mapping[str, str]) -> Iterable[Alarm]:
    known: tuple[What, ...] = ("evaluator", "data", "t_sol")
    for what in known:
        then = sent.stated.get(what)
        if then and now.get(what) and then != now[what]:
            yield Alarm(what=what, task=sent.task, then=then, now=now[what])


def _stacks(ledger: Ledger, newest: Iterable[Sent]) -> Iterable[Alarm]:
    named = [result for result in ledger.results if result.stack]
    if not named:
        return
    board = max(named, key=lambda result: result.at).stack
    last = {result.file_digest: result.stack for result in named}
    for sent in newest:
        then = last.get(sent.file_digest)
        if then and then != board:
            yield Alarm(what="stack", task=sent.task, then=then, now=board)


def _short(text: str) -> str:
    return text[:12] if len(text) == 64 else text
