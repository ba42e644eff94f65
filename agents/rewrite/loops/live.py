"""A loop without what no result hangs on."""

from dataclasses import replace

from agents.rewrite.loops.recurrence import Recurrence, names_in
from agents.rewrite.program import Op


def live(recurrence: Recurrence) -> Recurrence:
    """Without what no result hangs on; what is read of a step before keeps its own source alive."""
    after = _needed(recurrence.after, set(recurrence.results))
    wanted = set(recurrence.results) | {
        name for op in after.values() for name in names_in((op.args, op.kwargs))
    }
    collected = {name: value for name, value in recurrence.collected.items() if name in wanted}
    finals = {name: value for name, value in recurrence.finals.items() if name in wanted}
    roots = {value.source for value in collected.values()} | set(finals.values())
    while True:
        body = _needed(recurrence.body, roots)
        read = {name for op in body.values() for name in names_in((op.args, op.kwargs))} | roots
        states = {name: state for name, state in recurrence.states.items() if name in read}
        more = {state.next for state in states.values()}
        if more <= roots:
            break
        roots |= more
    return replace(recurrence, body=body, after=after, states=states, collected=collected, finals=finals)


def _needed(ops: dict[str, Op], wanted: set[str]) -> dict[str, Op]:
    waiting, found = list(wanted), set[str]()
    while waiting:
        name = waiting.pop()
        if name in ops and name not in found:
            found.add(name)
            waiting += names_in((ops[name].args, ops[name].kwargs))
    return {name: op for name, op in ops.items() if name in found}
