"""What the store knows of each task, in one question to it."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from leaderboard.store import Store


class Judged(NamedTuple):
    verdicts: int = 0
    accepted: int = 0
    traces: int = 0
    best_trace_ms: float | None = None
    """Shortest latency of an official trace that passed, whatever the workload and the hardware."""


def judged_by_task(store: "Store") -> dict[str, Judged]:
    """By a task's name; traces know only the definition's name, which is the task's or its last part."""
    # every process that makes pages imports this file, and none of them asks a store
    from sqlalchemy import case, func, select

    from leaderboard.store import traces, verdicts

    accepted = func.sum(case((verdicts.c.status == "accepted", 1), else_=0))
    with store.engine.connect() as connection:
        found = {
            task: Judged(verdicts=count, accepted=int(passed))
            for task, count, passed in connection.execute(
                select(verdicts.c.task, func.count(), accepted).group_by(verdicts.c.task)
            )
        }
        passed_ms = func.min(case((traces.c.status == "PASSED", traces.c.latency_ms)))
        for definition, count, best in connection.execute(
            select(traces.c.definition, func.count(), passed_ms).group_by(traces.c.definition)
        ):
            known = found.get(definition, Judged())
            found[definition] = known._replace(traces=count, best_trace_ms=best)
    return found
