"""Values as rows of a constant number of columns: what a tile of whole rows can hold in registers."""

import re
from dataclasses import dataclass
from math import prod

from agents.rewrite.program import Op, Program, Vector, product
from agents.rewrite.views import Index, source_index

WIDEST = 4096
"""Columns of a row at most."""


class NotInRegisters(Exception):
    """`name` cannot be worked out row by row."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass(frozen=True)
class Flat:
    """A value's first `lead` dimensions count the rows, `sizes` are the others'; no `lead`: the same in every row."""

    lead: int
    sizes: tuple[int, ...]

    @property
    def width(self) -> int:
        return prod(self.sizes)

    @property
    def padded(self) -> int:
        return power_of_two(self.width)

    @property
    def groups(self) -> tuple[int, int]:
        """How many runs of the last dimension a row has, and how long those are."""
        return self.width // self.sizes[-1], self.sizes[-1]

    @property
    def unfolded(self) -> Index:
        """For each of `sizes` the index, by the column `c`."""
        found = []
        for place, size in enumerate(self.sizes):
            after = prod(self.sizes[place + 1 :])
            part = "c" if after == 1 else f"(c // {after})"
            found.append("0" if size == 1 else part if after * size == self.width else f"({part} % {size})")
        return tuple(found)


def power_of_two(number: int) -> int:
    return 1 << max(0, number - 1).bit_length()


def row_count(program: Program, name: str) -> Vector:
    """How many rows `name` has: all dimensions up to the last that differs from workload to workload."""
    shape = program.types[name].shape
    varying = [place for place, size in enumerate(shape) if len(set(size)) > 1]
    last = varying[-1] + 1 if varying else len(shape) - 1
    return product(shape[:last], program.workloads)


def flat(program: Program, name: str, rows: Vector) -> Flat | None:
    """None for what has other rows, or rows that are too long or differ in length."""
    typed = program.types.get(name)
    if typed is None:
        return None
    shape = typed.shape
    leads = (n for n in range(1, len(shape) + 1) if product(shape[:n], program.workloads) == rows)
    lead = next(leads, 0)
    if any(len(set(size)) != 1 for size in shape[lead:]):
        return None
    found = Flat(lead, tuple(size[0] for size in shape[lead:]))
    return found if 0 < found.width <= WIDEST else None


def broadcast_columns(result: Flat, operand: Flat, ranks: tuple[int, int]) -> str | None:
    """Which column of the operand stands in column `c` of the result; `ranks` are the result's and the operand's."""
    if operand.lead and (operand.lead != result.lead or ranks[0] != ranks[1]):
        return None
    sizes = operand.sizes
    while len(sizes) > len(result.sizes):
        if sizes[0] != 1:
            return None
        sizes = sizes[1:]
    sizes = (1,) * (len(result.sizes) - len(sizes)) + sizes
    return linear(tuple("0" if n == 1 else i for n, i in zip(sizes, result.unfolded, strict=True)), sizes)


def viewed_columns(program: Program, op: Op, rows: Vector) -> tuple[str, str]:
    """The operand of a view, and which of its columns stands in column `c` of the view."""
    own = flat(program, op.name, rows)
    if own is None:
        raise NotInRegisters(op.name)
    lead = tuple(f"L{place}" for place in range(own.lead))
    source, index = source_index(program, op, (*lead, *own.unfolded), _constant)
    given = flat(program, source, rows)
    if given is None:
        raise NotInRegisters(op.name)
    shape = program.types[source].shape
    ones = tuple("0" if set(size) == {1} else f"L{place}" for place, size in enumerate(shape[: given.lead]))
    in_order = all(part in (f"L{n}", one) for n, (part, one) in enumerate(zip(index, ones, strict=False)))
    rest = index[given.lead :]
    if not in_order or any(re.search(r"\bL\d", part) for part in rest):
        raise NotInRegisters(op.name)
    return source, linear(rest, given.sizes)


def linear(index: Index, sizes: tuple[int, ...]) -> str:
    terms = []
    for place, part in enumerate(index):
        after = prod(sizes[place + 1 :])
        if part != "0":
            terms.append(part if after == 1 else f"({part}) * {after}")
    return " + ".join(terms) or "0"


def columns(text: str, width: int) -> list[int]:
    """What the expression in `c` is for every column."""
    code = compile(text, "columns", "eval")
    return [int(eval(code, {"__builtins__": {}}, {"c": c})) for c in range(width)]


def _constant(values: tuple[int | float, ...]) -> str:
    if len(set(values)) != 1:
        raise NotInRegisters(str(values))
    return str(values[0])
