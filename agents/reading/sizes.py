"""What a term says about sizes and dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agents.reading.kinds import Size
from agents.reading.term import Term

if TYPE_CHECKING:
    from agents.reading.reading import Reading


def sizes_of(reading: Reading, term: Term) -> tuple[Size, ...] | None:
    """The sizes that a term lists: `(batch, seq, 64)`, `x.shape`, or one number."""
    term = reading.look_through(term)
    if term.op == "tuple":
        return tuple(size_of(reading, item) for item in term.args)
    if term.op == "attribute" and term.value == "shape":
        return reading.tensor(term.args[0]).shape
    single = size_of(reading, term)
    return None if single is None else (single,)


def size_of(reading: Reading, term: Term) -> Size:
    value = reading.scalar(term)
    return None if isinstance(value, float) or value == -1 else value


def axis_of(reading: Reading, term: Term, rank: int | None) -> int | None:
    """A dimension counted from the end, as a negative number."""
    value = reading.scalar(term)
    if not isinstance(value, int):
        return None
    return value if value < 0 else value - rank if rank is not None else None
