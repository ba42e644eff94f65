"""The scores of an attention read backwards: from what softmax takes to the product of queries and keys."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from agents.rewrite.program import Op, Program, Ref
from agents.rewrite.rules.contraction import Contraction, contraction
from agents.rewrite.rules.views import CASTS, operand, regrouped, uniform

_LOWEST = -1e9
"""What is filled in to hide a position; anything above it would leave some weight there."""
Factor = tuple[float, ...]


@dataclass(frozen=True)
class Mask:
    """`kind` is `seen` or `hidden` for booleans, `bias` for what is added, times `factor`."""

    name: str
    kind: str
    factor: Factor = ()


@dataclass(frozen=True)
class Scores:
    product: str
    contraction: Contraction
    factor: Factor
    """By which the product is multiplied, one number for each workload."""
    masks: tuple[Mask, ...] = ()
    is_regrouped: bool = False
    """Whether the product's leading dimensions are grouped in another way."""


def scores_of(program: Program, name: str) -> Scores | None:
    """None where the way is not made of casts, factors and masks alone; a softcap is such a case."""
    return _walked(program, name, (1.0,) * program.workloads, ())


def _walked(program: Program, name: str, factor: Factor, passed: tuple[str, ...]) -> Scores | None:
    """`factor` is what is multiplied by on the way from `name` to softmax."""
    op = program.ops.get(name)
    if op is None or len(passed) > 20:
        return None
    passed = (*passed, name)
    product = contraction(program, name)
    if product is not None:
        return Scores(name, product, factor)
    if op.base in CASTS and op.target != "view.dtype":
        return _walked(program, op.reads[0], factor, passed)
    source = regrouped(program, op)
    if source is not None:
        below = _walked(program, source, factor, passed)
        is_plain = below is not None and not below.masks and not below.is_regrouped
        return replace(below, is_regrouped=True) if below is not None and is_plain else None
    return _arithmetic(program, op, factor, passed)


def _arithmetic(program: Program, op: Op, factor: Factor, passed: tuple[str, ...]) -> Scores | None:
    if op.base in ("mul", "div"):
        return _scaled(program, op, factor, passed)
    for place, mask in _masks(program, op, factor):
        below = _walked(program, op.args[place].name, factor, passed)
        if below is not None:
            return _masked(program, below, op, mask)
    return None


def _masks(program: Program, op: Op, factor: Factor) -> Iterator[tuple[int, Mask]]:
    """Every way to read the operation as masking: which argument may be the scores, and what hides some of them."""
    if op.base == "add" and operand(op, 1) is not None and "alpha" not in op.kwargs and len(op.args) == 2:
        yield from ((one, Mask(op.args[1 - one].name, "bias", factor)) for one in (0, 1))
    if op.base == "masked_fill" and _is_low(program, op.args[2]):
        yield 0, Mask(op.args[1].name, "hidden")
    if op.base == "where" and len(op.args) == 3:
        for scores, low, kind in ((1, 2, "seen"), (2, 1, "hidden")):
            if operand(op, scores) is not None and _is_low(program, op.args[low]):
                yield scores, Mask(op.args[0].name, kind)


def _scaled(program: Program, op: Op, factor: Factor, passed: tuple[str, ...]) -> Scores | None:
    if "rounding_mode" in op.kwargs:
        return None
    number = uniform(program, op.args[1])
    scores = op.args[0]
    if number is None and op.base == "mul":
        number, scores = uniform(program, op.args[0]), op.args[1]
    if number is None or not isinstance(scores, Ref) or min(number) <= 0:
        return None
    times = [1.0 / n if op.base == "div" else float(n) for n in number]
    return _walked(program, scores.name, tuple(a * b for a, b in zip(factor, times, strict=True)), passed)


def _masked(program: Program, below: Scores, op: Op, mask: Mask) -> Scores | None:
    """With the mask, unless that makes more of the scores than they were."""
    same = below.is_regrouped or program.types[op.name].shape == program.types[below.product].shape
    fits = len(program.types[mask.name].shape) <= len(program.types[op.name].shape)
    return replace(below, masks=(*below.masks, mask)) if same and fits else None


def _is_low(program: Program, value: object) -> bool:
    number = uniform(program, value)
    return number is not None and max(number) <= _LOWEST
