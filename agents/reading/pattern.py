"""Patterns: expressions with holes, written as Python and found in any spelling of the same computation.

Pattern("_x * torch.sigmoid(_x)")        names that start with an underscore are holes
Pattern("cast(_x) + _y")                 `cast(...)` may or may not be a conversion of element type
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from agents.reading.canonical import STANDARD_ALIASES, canonical
from agents.reading.reading import Reading
from agents.reading.sizes import axis_of
from agents.reading.term import Term

Found = Mapping[str, Term]
"""What stands in each hole, under its name without the underscore."""

_CAST = "pattern.cast"
_COMMUTATIVE = frozenset({"add", "mul"})


class Pattern:
    """Several texts are alternatives; `parts` are texts that `{name}` in them stands for."""

    def __init__(self, *texts: str, **parts: str | Sequence[str]) -> None:
        import ast

        aliases = {**STANDARD_ALIASES, "cast": _CAST}
        self._terms = [
            canonical(ast.parse(text, mode="eval").body, aliases)
            for template in texts
            for text in _filled(template, parts)
        ]

    def match(self, term: Term, reading: Reading) -> Found | None:
        """The first way in which `term` is of this form."""
        return next(self.matches(term, reading), None)

    def matches(self, term: Term, reading: Reading) -> Iterator[Found]:
        for pattern in self._terms:
            yield from _match(pattern, term, {}, reading)


def _filled(template: str, parts: Mapping[str, str | Sequence[str]]) -> Iterator[str]:
    choices = [[text] if isinstance(text, str) else list(text) for text in parts.values()]
    for choice in product(*choices):
        yield template.format(**{name: f"({text})" for name, text in zip(parts, choice, strict=True)})


def _match(pattern: Term, term: Term, found: Found, reading: Reading) -> Iterator[Found]:
    if pattern.op == "name" and str(pattern.value).startswith("_"):
        yield from _fill_hole(str(pattern.value)[1:], term, found, reading)
    elif pattern.op == "call" and pattern.value == _CAST:
        inner = reading.look_through(term)
        if inner.op == "to":
            yield from _match(pattern.args[0], inner.args[0], found, reading)
        yield from _match(pattern.args[0], term, found, reading)
    else:
        yield from _match_operation(pattern, reading.look_through(term), found, reading)


def _fill_hole(hole: str, term: Term, found: Found, reading: Reading) -> Iterator[Found]:
    if term.is_absent:
        return
    if hole not in found:
        yield {**found, hole: term}
    elif reading.same(found[hole], term):
        yield found


def _match_operation(pattern: Term, term: Term, found: Found, reading: Reading) -> Iterator[Found]:
    if pattern.op == "const" and isinstance(pattern.value, int | float) and pattern.value is not True:
        if reading.scalar(term) == pattern.value:
            yield found
    elif pattern.op == "transpose" and term.op == "transpose":
        if _axes(pattern, reading, None) == _axes(term, reading, reading.tensor(term.args[0]).rank):
            yield from _match(pattern.args[0], term.args[0], found, reading)
    elif pattern.op == term.op and pattern.value == term.value and len(pattern.args) == len(term.args):
        yield from _match_all(pattern.args, term.args, found, reading)
        if pattern.op in _COMMUTATIVE:
            yield from _match_all(pattern.args, term.args[::-1], found, reading)


def _match_all(
    patterns: Sequence[Term], terms: Sequence[Term], found: Found, reading: Reading
) -> Iterator[Found]:
    if not patterns:
        yield found
        return
    for first in _match(patterns[0], terms[0], found, reading):
        yield from _match_all(patterns[1:], terms[1:], first, reading)


def _axes(term: Term, reading: Reading, rank: int | None) -> tuple[int | None, ...] | None:
    """The two exchanged dimensions, counted from the end."""
    axes = [axis_of(reading, arg, rank) for arg in term.args[1:]]
    return None if None in axes else tuple(sorted(axis for axis in axes if axis is not None))


def uncast(term: Term, reading: Reading) -> Term:
    """`term` without the conversions of element type around it."""
    inner = reading.look_through(term)
    while inner.op == "to":
        term = inner.args[0]
        inner = reading.look_through(term)
    return term
