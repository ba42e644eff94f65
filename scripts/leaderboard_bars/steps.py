"""The steps by name, in what order they are done, and what becomes of one that fails."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from guard.errors import GuardBroken
from leaderboard.frozen.kernel import sentinel_names
from scripts.leaderboard_bars.asked import Key, Row
from scripts.leaderboard_bars.bench import Bench
from scripts.leaderboard_bars.comparing import delay, inject, repeat, same
from scripts.leaderboard_bars.taking import take_champion, take_sentinel
from tasks.errors import TaskError

DO: dict[str, Callable[[Bench, str], Row]] = {
    "sentinels": take_sentinel, "same": same, "injected": inject, "champions": take_champion,
    "repeats": repeat, "delayed": delay,
}  # fmt: skip
_OF_SENTINELS = ("sentinels", "same", "injected")


@dataclass(frozen=True)
class Step:
    """One row of the record: `key` names it, `do` gives it."""

    key: Key
    do: Callable[[], Row]


def steps(bench: Bench, chosen: tuple[str, ...]) -> Iterator[Step]:
    """In the order in which `chosen` names their kinds."""
    for kind in chosen:
        names = bench.asked.names
        if kind in _OF_SENTINELS:
            names = bench.asked.sentinels or sentinel_names()
        for number in range(bench.asked.repeats if kind == "repeats" else 1):
            for name in names:
                yield Step((kind, name, number), partial(DO[kind], bench, name))


def measured(step: Step) -> Row:
    """The step's row. A fault is a row too, so that the others are still taken."""
    kind, task, number = step.key
    began = time.monotonic()
    try:
        found = step.do()
    except (TaskError, GuardBroken, ValueError) as error:
        found = {"why": str(error)}
    seconds = round(time.monotonic() - began, 1)
    return {"step": kind, "task": task, "number": number, "seconds": seconds, **found}
