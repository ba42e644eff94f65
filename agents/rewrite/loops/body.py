"""The lines of a kernel that walks a loop: what is worked out once, what in every step, and what at the end."""

from collections.abc import Callable
from typing import Any

from agents.rewrite.loops.lines import Lines, Value
from agents.rewrite.loops.places import RESHAPES, moved, refolded
from agents.rewrite.loops.recurrence import Recurrence
from agents.rewrite.loops.symbols import Symbols
from agents.rewrite.loops.values import Values
from agents.rewrite.views import Index


class Body:
    """`size` writes a number of every workload as a parameter of the kernel or as it is."""

    def __init__(self, loop: Recurrence, symbols: Symbols, size: Callable[[tuple[Any, ...]], str]) -> None:
        self.loop, self.size = loop, size
        self.values = Values(loop, symbols, size)
        self.scribe = self.values.scribe

    def written(self) -> Lines:
        """The lines, with the dimensions as they are known so far."""
        lines, states = self.scribe.lines, self.loop.states
        kept = {name: self.values.kept(name) for name in states}
        for name, index in kept.items():
            lines.once.append(f"{name} = {self._whole(states[name].first, name, index, is_new=True)}")
        self._collect()
        lines.step += _replacing({name: self._whole(states[name].next, name, kept[name]) for name in states})
        for name, source in self.loop.finals.items():
            state = next(state for state, value in states.items() if value.next == source)
            held = Value(state, self.values.type(state), self.scribe.dims(kept[state]))
            self.scribe.store(name, kept[state], held, lines.last)
        return lines

    def _whole(self, name: str, state: str, index: Index, *, is_new: bool = False) -> str:
        """A value as wide as the state that takes it."""
        value, dims = self.values.value(name, index), self.scribe.dims(index)
        if value.dims == dims and value.dtype != "number" and not is_new:
            return value.text
        return self.scribe.spread(value, dims, self.values.type(state))

    def _collect(self) -> None:
        for name, one in self.loop.collected.items():
            source, asked, shown = self._asked(name, one.source)
            value = self.values.value(source, asked)
            after = shown[one.dim :] if one.adds_dimension else shown[one.dim + 1 :]
            whole = (*shown[: one.dim], moved(one.place, self.size), *after)
            self.scribe.store(name, whole, value, self.scribe.lines.step)

    def _asked(self, name: str, source: str) -> tuple[str, Index, Index]:
        """The value to ask for, at dimensions of its own, and the same index into `source`.

        Where a step ends by making several dimensions one, those several are asked for.
        """
        op = self.loop.body.get(source)
        base = op.reads[0] if op is not None and op.base in RESHAPES else source
        index = self.values.own(name, base)
        if base == source:
            return source, index, index
        types = self.loop.types
        shown = refolded(
            index, types[base].shape, types[source].shape, self.values.program.workloads, self.size
        )
        return base, index, shown


def _replacing(later: dict[str, str]) -> list[str]:
    """Assignments of the states; at once where one takes what another held."""
    new = {name: text for name, text in later.items() if text != name}
    if any(text in later for text in new.values()):
        return [f"{', '.join(new)} = {', '.join(new.values())}"]
    return [f"{name} = {text}" for name, text in new.items()]
