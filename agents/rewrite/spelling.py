"""Products that sum over dimensions, with a letter for each dimension of their operands and result."""

from dataclasses import dataclass

from agents.rewrite.program import Op, Program, Ref

_PRODUCTS = {"einsum", "matmul", "mm", "bmm", "mv", "dot", "linear", "outer", "ger"}


@dataclass(frozen=True)
class Spelling:
    operands: tuple[tuple[str, str], ...]
    """Name, and a letter for each of its dimensions."""
    result: str


def is_product(op: Op) -> bool:
    return op.base in _PRODUCTS


def spelling(program: Program, op: Op) -> Spelling | None:
    """Of what `is_product`; None for a product with a third operand, or an einsum that leaves letters to be guessed."""
    if op.base == "einsum":
        return _einsum(op)
    refs = [ref for ref in op.args[:2] if isinstance(ref, Ref)]
    if len(op.args) > 2 or op.kwargs or len(refs) != 2:
        return None
    one, other = refs
    a, b = len(program.types[one.name].shape), len(program.types[other.name].shape)
    if op.base == "linear":
        lead = _letters(a - 1)
        return Spelling(((one.name, f"{lead}k"), (other.name, "nk")), f"{lead}n")
    if op.base in ("outer", "ger"):
        return Spelling(((one.name, "m"), (other.name, "n")), "mn")
    lead = _letters(max(a, b) - 2)
    left = "k" if a == 1 else f"{lead[len(lead) - (a - 2) :]}mk"
    right = "k" if b == 1 else f"{lead[len(lead) - (b - 2) :]}kn"
    return Spelling(
        ((one.name, left), (other.name, right)), lead + ("m" if a > 1 else "") + ("n" if b > 1 else "")
    )


def _einsum(op: Op) -> Spelling | None:
    equation = str(op.args[0]).replace(" ", "")
    if "->" not in equation or "." in equation:
        return None
    left, result = equation.split("->")
    names = [ref.name for ref in op.args[1]]
    return Spelling(tuple(zip(names, left.split(","), strict=True)), result)


def _letters(count: int) -> str:
    return "ABCDEFGH"[: max(0, count)]
