"""Products as sums over labelled dimensions, whichever function spells them."""

from dataclasses import dataclass, replace

from agents.rewrite.program import Program, Ref
from agents.rewrite.rules.draft import Shape
from agents.rewrite.rules.views import CASTS, operand, order_of, regrouped

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
    if op is None or name not in program.types:
        return None
    if op.base in ("matmul", "bmm", "mm") and operand(op, 1) is not None:
        return _matmul(program, name, op.args[0].name, op.args[1].name)
    if op.base == "einsum" and len(op.args) == 2 and len(op.args[1]) == 2:
        first, second = (ref.name for ref in op.args[1] if isinstance(ref, Ref))
        return _einsum(program, str(op.args[0]), first, second, len(program.types[name].shape))
    return None


def _matmul(program: Program, name: str, first: str, second: str) -> Contraction | None:
    rank = len(program.types[name].shape)
    sizes = [program.types[operand].shape for operand in (first, second)]
    if min(map(len, sizes)) < 2:
        return None
    leads = [tuple(range(rank - len(size), rank - 2)) for size in sizes]
    labels: tuple[tuple[Label, ...], ...] = ((*leads[0], rank - 2, INNER), (*leads[1], INNER, rank - 1))
    return _labelled(program, (first, second), labels, rank)


def _einsum(program: Program, equation: str, first: str, second: str, rank: int) -> Contraction | None:
    left, arrow, out = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    letters = set(left) - {","} - set(out)
    if not arrow or "." in equation or len(letters) != 1 or any(len(set(t)) != len(t) for t in terms):
        return None
    if not letters <= set(terms[0]) & set(terms[1]):
        return None
    known: dict[str, Label] = {**{letter: place for place, letter in enumerate(out)}, letters.pop(): INNER}
    labels = tuple(tuple(known[letter] for letter in term) for term in terms)
    return _labelled(program, (first, second), labels, rank)


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
