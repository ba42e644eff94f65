"""Products as sums over labelled dimensions, whichever function spells them."""

from dataclasses import dataclass, replace

from agents.rewrite.program import Program
from agents.rewrite.rules.draft import Shape
from agents.rewrite.rules.views import CASTS, operand, order_of, regrouped
from agents.rewrite.spelling import spelling

_LEAST = {"matmul": 2, "bmm": 2, "mm": 2, "einsum": 0}
"""Dimensions of an operand: what multiplies vectors is no product here."""
INNER = "inner"
"""The label of the dimension that is summed over."""
Label = int | str | None
"""A dimension of the result, `INNER`, or None for one of size 1 that is spread over the result's."""


@dataclass(frozen=True)
class Operand:
    """A value with a label for each dimension of `shape`, to which it has to be reshaped first where it differs."""

    name: str
    labels: tuple[Label, ...]
    shape: Shape


@dataclass(frozen=True)
class Contraction:
    """The result has the labels 0, 1, 2, ... in order."""

    first: Operand
    second: Operand
    rank: int


def contraction(program: Program, name: str) -> Contraction | None:
    """None for anything but a product of two tensors with one dimension summed over."""
    op = program.ops.get(name)
    if op is None or name not in program.types or op.base not in ("matmul", "bmm", "mm", "einsum"):
        return None
    spelt = spelling(program, op)
    if (
        spelt is None
        or len(spelt.operands) != 2
        or min(len(term) for _, term in spelt.operands) < _LEAST[op.base]
    ):
        return None
    (first, one), (second, other) = spelt.operands
    inner = ({*one, *other}) - {*spelt.result}
    if len(inner) != 1 or not inner <= {*one} & {*other} or any(len({*t}) != len(t) for t in (one, other)):
        return None
    known: dict[str, Label] = {letter: place for place, letter in enumerate(spelt.result)}
    known[inner.pop()] = INNER
    labels = tuple(tuple(known[letter] for letter in term) for term in (one, other))
    return _labelled(program, (first, second), labels, len(program.types[name].shape))


def _labelled(
    program: Program, names: tuple[str, str], labels: tuple[tuple[Label, ...], ...], rank: int
) -> Contraction:
    operands: list[Operand] = []
    for name, own, other in zip(names, labels, reversed(names), strict=True):
        shape = program.types[name].shape
        theirs = dict(zip(labels[1 - len(operands)], program.types[other].shape, strict=True))
        kept = tuple(
            None if set(size) == {1} and set(theirs.get(label, size)) != {1} else label
            for label, size in zip(own, shape, strict=True)
        )
        operands.append(Operand(name, kept, shape))
    return Contraction(operands[0], operands[1], rank)


def turned(program: Program, given: Operand, casts: bool) -> Operand:
    """The operand before its dimensions were turned and, if asked for, before it was cast."""
    while (op := program.ops.get(given.name)) is not None and given.shape == program.types[given.name].shape:
        order = order_of(program, op)
        source = operand(op)
        if order is not None and source is not None:
            labels = tuple(given.labels[order.index(place)] for place in range(len(order)))
            given = Operand(source, labels, program.types[source].shape)
        elif casts and op.base in CASTS and source is not None and op.target != "view.dtype":
            given = replace(given, name=source)
        else:
            break
    return given


def leading(program: Program, given: Operand, lead: Shape) -> Operand | None:
    """The operand with its leading dimensions, labelled 0, 1, ..., shaped to `lead` and labelled so again."""
    own = given.shape[:-2]
    if own == lead:
        return given
    if given.labels[: len(own)] != tuple(range(len(own))):
        return None
    more = len(lead) - len(own)
    rest = tuple(label + more if isinstance(label, int) else label for label in given.labels[-2:])
    return Operand(given.name, (*range(len(lead)), *rest), (*lead, *given.shape[-2:]))


def ungrouped(program: Program, name: str) -> str:
    """The value before casts, and before a reshape of its leading dimensions."""
    while (op := program.ops.get(name)) is not None:
        source = op.reads[0] if op.base in CASTS else regrouped(program, op)
        if source is None:
            break
        name = source
    return name
