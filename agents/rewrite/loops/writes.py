"""Tensors that every step writes one slice of, taken out of the loop: the slices are what a kernel stores."""

from dataclasses import replace

from agents.rewrite.loops.recurrence import Collected, Moving, NoLoop, Recurrence, State, names_in
from agents.rewrite.program import Number, Op, Ref, replaced


def without_writes(recurrence: Recurrence) -> Recurrence:
    """Every state that is a tensor written slice by slice becomes a tensor collected from the slices."""
    for name, state in recurrence.states.items():
        op = recurrence.body.get(state.next)
        if op is not None and op.base in ("select_scatter", "slice_scatter") and op.args[0] == Ref(name):
            return without_writes(_taken_out(recurrence, name, op))
    return recurrence


def _taken_out(recurrence: Recurrence, state: str, op: Op) -> Recurrence:
    is_select = op.base == "select_scatter"
    written, place = op.args[1].name, op.args[3]
    shape = recurrence.types[op.name].shape
    dim = int(op.args[2].constant or 0) % len(shape)
    if not isinstance(place, Moving) or (not is_select and set(recurrence.types[written].shape[dim]) != {1}):
        raise NoLoop("a step writes more than one place of a tensor, or the same one as others")
    if any(value < 0 for value in place.values):
        place = Moving(tuple(v + n for v, n in zip(place.values, shape[dim], strict=True)), place.step)
    found = _Readers(recurrence, state, op, dim, place)
    names = found.substitutes()
    body = {
        name: Op(name, other.target, replaced(other.args, names), replaced(other.kwargs, names))
        for name, other in {**recurrence.body, **found.body}.items()
        if name != op.name and name not in names
    }
    if any({state, op.name} & names_in((other.args, other.kwargs)) for other in body.values()):
        raise NoLoop("steps read more of a tensor that they write than the last slice")
    first = recurrence.states[state].first
    whole = all(
        int(n) == c and {int(v), int(v) + place.step * (c - 1)} == {0, c - 1}
        for v, n, c in zip(place.values, shape[dim], recurrence.count, strict=True)
    )
    one = Collected(written, dim, is_select, place, None if whole and abs(place.step) == 1 else first)
    mine = [name for name, source in recurrence.finals.items() if source == op.name]
    states = {
        name: replace(value, next=names.get(value.next, value.next))
        for name, value in {**recurrence.states, **found.states}.items() if name != state
    }  # fmt: skip
    return replace(
        recurrence, body=body, before={**recurrence.before, **found.before}, states=states,
        types={**recurrence.types, **found.types},
        finals={name: names.get(s, s) for name, s in recurrence.finals.items() if name not in mine},
        collected={
            **{name: replace(c, source=names.get(c.source, c.source)) for name, c in recurrence.collected.items()},
            **dict.fromkeys(mine, one),
        },
    )  # fmt: skip


class _Readers:
    """Slices that steps take of the tensor they write, and what stands for them."""

    def __init__(self, recurrence: Recurrence, state: str, op: Op, dim: int, place: Moving) -> None:
        self.recurrence, self.state, self.op, self.dim, self.place = recurrence, state, op, dim, place
        self.states: dict[str, State] = {}
        self.before: dict[str, Op] = {}
        self.body: dict[str, Op] = {}
        self.types = dict(recurrence.types)

    def substitutes(self) -> dict[str, str]:
        names: dict[str, str] = {}
        for name, other in self.recurrence.body.items():
            if other.base == "select" and self.op.base == "select_scatter" and len(other.reads) == 1:
                instead = self._instead(other)
                if instead is not None:
                    names[name] = instead
        return names

    def _instead(self, other: Op) -> str | None:
        source, at = other.reads[0], other.args[2]
        if (
            source not in (self.state, self.op.name)
            or not isinstance(at, Moving)
            or at.step != self.place.step
        ):
            return None
        size = self.types[self.op.name].shape[self.dim]
        if int(other.args[1].constant or 0) % len(self.types[source].shape) != self.dim:
            return None
        steps = {
            (int(p) - int(a if a >= 0 else a + n)) / at.step
            for p, a, n in zip(self.place.values, at.values, size, strict=True)
        }
        ago = steps.pop() if len(steps) == 1 else 2
        if source == self.op.name:
            return self.op.args[1].name if ago == 0 else None
        if ago == 1:
            return self._last(other, at)
        return self._unwritten(other) if ago <= 0 else None

    def _last(self, other: Op, at: Moving) -> str:
        """The slice that the step before wrote; before the first one, what the tensor held there."""
        held = f"{other.name}_first"
        self.before[held] = Op(
            held, other.target, (Ref(self._first), Number((self.dim,) * len(at.values)), Number(at.values))
        )
        name = f"{other.name}_last"
        self.types[held] = self.types[name] = self.types[other.name]
        self.states[name] = State(held, self.op.args[1].name)
        return name

    def _unwritten(self, other: Op) -> str:
        """What no step has written yet."""
        name = f"{other.name}_unwritten"
        self.body[name] = Op(name, other.target, (Ref(self._first), *other.args[1:]))
        self.types[name] = self.types[other.name]
        return name

    @property
    def _first(self) -> str:
        return self.recurrence.states[self.state].first
