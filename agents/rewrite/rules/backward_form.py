"""The gradients of an attention in a program: which product is which, in terms of the scores' dimensions.

With P = softmax(S): dV = P^T dO, dP = dO V^T, dS = P (dP - rowsum(dP P)), dQ = dS K, dK = dS^T Q.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from agents.rewrite.program import Op, Program
from agents.rewrite.rules.attention_form import VALUE, AttentionForm, queries_and_keys, unscaled
from agents.rewrite.rules.contraction import INNER, Label, Operand, contraction, turned
from agents.rewrite.rules.scores import Factor, scores_of
from agents.rewrite.rules.views import CASTS, along_last, operand, softmax_operand, uncast, uniform


@dataclass(frozen=True)
class Gradient:
    """A product of weights, or of the scores' gradient, with what the forward pass has on the other side."""

    out: str
    of: str
    """`query`, `key` or `value`."""
    labels: tuple[Label, ...]
    factor: Factor
    """By which it is larger than the gradient itself."""


@dataclass(frozen=True)
class BackwardForm:
    forward: AttentionForm
    """Its `out` is the softmax, and its `labels` are those of the output's gradient."""
    grad: Operand
    gradients: tuple[Gradient, ...]


@dataclass(frozen=True)
class _Side:
    """A product of something shaped like the scores with `other`, whose labels are the scores' dimensions."""

    square: str
    factor: Factor
    summed: int
    other: Operand
    labels: tuple[Label, ...]


def backward_forms(program: Program, narrow: bool) -> Iterator[BackwardForm]:
    for name in program.ops:
        scores_name = softmax_operand(program, name)
        scores = None if scores_name is None else scores_of(program, scores_name)
        if scores_name is None or scores is None or scores.is_regrouped:
            continue
        for weights, slope in _slopes(program, name):
            found = _formed(program, (name, scores_name, weights, slope), narrow)
            if found is not None:
                yield found


def _formed(program: Program, names: tuple[str, str, str, str], narrow: bool) -> BackwardForm | None:
    softmax, scores_name, slope_of_weights, slope_of_scores = names
    scores = scores_of(program, scores_name)
    shape = program.types[scores_name].shape
    sides = None if scores is None else queries_and_keys(program, scores, shape)
    output = _output_side(program, slope_of_weights, len(shape), narrow)
    if scores is None or sides is None or output is None:
        return None
    (query, more), (key, again) = (unscaled(program, side, narrow) for side in sides)
    grad, value, rows = output
    factor = tuple(a * b * c for a, b, c in zip(scores.factor, more, again, strict=True))
    labels: tuple[Label, ...] = (*range(len(shape) - 1), VALUE)
    forward = AttentionForm(softmax, shape, query, key, value, labels, rows, replace(scores, factor=factor))
    if rows not in query.labels or rows in key.labels:
        return None
    found = BackwardForm(forward, grad, ())
    gradients = tuple(_gradients(program, found, slope_of_scores, narrow))
    return replace(found, gradients=gradients) if len(gradients) > 1 else None


def _output_side(program: Program, name: str, rank: int, narrow: bool) -> tuple[Operand, Operand, int] | None:
    """Of dP: the output's gradient, the values, and the label of the rows."""
    product = contraction(program, uncast(program, name))
    if product is None or product.rank != rank:
        return None
    pair = [turned(program, side, casts=narrow) for side in (product.first, product.second)]
    if rank - 1 in pair[0].labels:
        pair.reverse()
    grad, value = (replace(s, labels=tuple(VALUE if n == INNER else n for n in s.labels)) for s in pair)
    alone = [label for label in grad.labels if isinstance(label, int) and label not in value.labels]
    if rank - 1 in grad.labels or rank - 1 not in value.labels or not alone:
        return None
    rows = rank - 2 if rank - 2 in alone else alone[0]
    return (grad, value, rows) if len(alone) == 1 or rows == rank - 2 else None


def _gradients(program: Program, form: BackwardForm, slope: str, narrow: bool) -> Iterator[Gradient]:
    forward = form.forward
    last = len(forward.shape) - 1
    wanted = (
        ("value", forward.out, forward.rows, form.grad, (1.0,) * program.workloads),
        ("query", slope, last, forward.key, forward.scores.factor),
        ("key", slope, forward.rows, forward.query, forward.scores.factor),
    )
    for name in program.ops:
        for side in _sides(program, name, len(forward.shape), narrow):
            for of, square, summed, other, factor in wanted:
                known = replace(other, labels=tuple(VALUE if n == INNER else n for n in other.labels))
                if (side.square, side.summed, side.other) == (square, summed, known):
                    times = tuple(a / b for a, b in zip(side.factor, factor, strict=True))
                    yield Gradient(name, of, side.labels, times)


def _sides(program: Program, name: str, rank: int, narrow: bool) -> Iterator[_Side]:
    product = contraction(program, name)
    if product is None:
        return
    for square, other in ((product.first, product.second), (product.second, product.first)):
        square, factor = unscaled(program, square, narrow=True)
        if len(square.labels) != rank or None in square.labels or INNER not in square.labels:
            continue
        names: dict[Label, Label] = {label: place for place, label in enumerate(square.labels)}
        other, more = unscaled(program, other, narrow)
        labels = tuple(names.get(label, VALUE) for label in range(product.rank))
        renamed = tuple(None if n is None else names.get(n, VALUE) for n in other.labels)
        factor = tuple(a * b for a, b in zip(factor, more, strict=True))
        summed = square.labels.index(INNER)
        yield _Side(_unhidden(program, square.name), factor, summed, replace(other, labels=renamed), labels)


def _unhidden(program: Program, name: str) -> str:
    """Before zeros were filled in: where they are the weights are zero already, or the numbers will tell."""
    op = program.ops.get(name)
    while op is not None and op.base in ("masked_fill", "where", *CASTS):
        place = 1 if op.base == "where" else 0
        fill = op.args[2] if op.base in ("where", "masked_fill") else None
        if fill is not None and uniform(program, fill) != (0.0,) * program.workloads:
            break
        name = op.args[place].name
        op = program.ops.get(name)
    return name


def _slopes(program: Program, weights: str) -> Iterator[tuple[str, str]]:
    """(dP, dS) for every place where the derivative of the softmax is applied."""
    for op in program.ops.values():
        if op.base == "_softmax_backward_data" and uncast(program, op.args[1].name) == weights:
            yield op.args[0].name, op.name
        if op.base == "mul" and operand(op) is not None and operand(op, 1) is not None:
            for one, other in ((0, 1), (1, 0)):
                slope = _centred(program, op.args[other].name, weights)
                if slope is not None and uncast(program, op.args[one].name) == weights:
                    yield slope, op.name


def _centred(program: Program, name: str, weights: str) -> str | None:
    """dP of dP - rowsum(dP * P)."""
    op = program.ops.get(uncast(program, name))
    if op is None or op.base != "sub" or operand(op) is None or operand(op, 1) is None:
        return None
    slope = uncast(program, op.args[0].name)
    total = program.ops.get(uncast(program, op.args[1].name))
    if total is None or not along_last(program, total, "sum"):
        return None
    return slope if _is_product(program, program.ops.get(total.reads[0]), slope, weights) else None


def _is_product(program: Program, op: Op | None, slope: str, weights: str) -> bool:
    """dP * P, or dO * O with O the attention's output, which sums to the same."""
    if op is None or op.base != "mul":
        return False
    names = {uncast(program, name) for name in op.reads}
    if names == {slope, weights}:
        return True
    product = contraction(program, slope)
    if product is None or len(names) != 2:
        return False
    outer = {uncast(program, side.name) for side in (product.first, product.second)}
    for name in names & outer:
        output = contraction(program, (names - {name}).pop())
        if output is not None and weights in {uncast(program, s.name) for s in (output.first, output.second)}:
            return True
    return False
