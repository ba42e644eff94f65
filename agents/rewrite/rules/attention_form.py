"""Attention in a program: a product of the values with a softmax of scores, in terms of the scores' dimensions."""

from dataclasses import dataclass, replace

from agents.rewrite.program import Number, Program, Vector
from agents.rewrite.rules.contraction import (
    INNER,
    Contraction,
    Label,
    Operand,
    contraction,
    leading,
    turned,
    ungrouped,
)
from agents.rewrite.rules.draft import Shape
from agents.rewrite.rules.scores import Scores, scores_of
from agents.rewrite.rules.views import RESHAPES, operand, softmax_operand, uniform

VALUE = "value"
"""The label of the values' own dimension."""


@dataclass(frozen=True)
class AttentionForm:
    """Labels are places in `shape`, that of the scores; `INNER` is the dimension of queries and keys."""

    out: str
    shape: Shape
    query: Operand
    key: Operand
    value: Operand
    labels: tuple[Label, ...]
    """Of the dimensions of the result, before it is reshaped to those of `out`."""
    rows: int
    """The label of the queries; that of the keys is the last."""
    scores: Scores

    @property
    def batch(self) -> tuple[int, ...]:
        return tuple(label for label in range(len(self.shape) - 1) if label != self.rows)


def attention_form(program: Program, out: str, narrow: bool) -> AttentionForm | None:
    """With `narrow`, queries, keys and values are taken as they were before they were cast."""
    product = contraction(program, out)
    if product is None:
        return None
    for weights, value in ((product.first, product.second), (product.second, product.first)):
        weights = turned(program, weights, casts=True)
        soft = ungrouped(program, weights.name)
        name = softmax_operand(program, soft)
        if name is None or weights.labels[-1] != INNER or None in weights.labels:
            continue
        scores = scores_of(program, name)
        if scores is not None:
            return _formed(program, (out, name), (weights, value, product), scores, narrow)
    return None


def _formed(
    program: Program, names: tuple[str, str], second: tuple[Operand, Operand, Contraction], scores: Scores,
    narrow: bool,
) -> AttentionForm | None:  # fmt: skip
    out, name = names
    shape = program.types[name].shape
    queries_keys = queries_and_keys(program, scores, shape)
    values = _values(program, second, shape)
    if queries_keys is None or values is None:
        return None
    (query, key), (value, labels) = queries_keys, values
    query, more = unscaled(program, query, narrow)
    key, again = unscaled(program, key, narrow)
    scores = replace(scores, factor=_times(scores.factor, _times(more, again)))
    alone = [label for label in query.labels if isinstance(label, int) and label not in key.labels]
    rows = len(shape) - 2 if len(shape) - 2 in alone else (alone[0] if len(alone) == 1 else None)
    wanted = {*range(len(shape) - 1), VALUE}
    if rows is None or rows in value.labels or set(labels) != wanted or len(labels) != len(wanted):
        return None
    return AttentionForm(out, shape, query, key, turned(program, value, casts=narrow), labels, rows, scores)


def queries_and_keys(program: Program, scores: Scores, shape: Shape) -> tuple[Operand, Operand] | None:
    """Of the product; the keys have the last dimension of the scores."""
    product = scores.contraction
    last = product.rank - 1
    pair = (product.first, product.second)
    if last in product.first.labels:
        pair = pair[::-1]
    query, key = (turned(program, side, casts=False) for side in pair)
    if last in query.labels or last not in key.labels:
        return None
    if not scores.is_regrouped:
        return query, key
    found = [_led(program, side, shape[:-2]) for side in (query, key)]
    return (found[0], found[1]) if found[0] is not None and found[1] is not None else None


def _values(
    program: Program, second: tuple[Operand, Operand, Contraction], shape: Shape
) -> tuple[Operand, tuple[Label, ...]] | None:
    """The values, and the dimensions of the result, with the labels of the scores."""
    weights, value, product = second
    names: dict[Label, Label] = {label: place for place, label in enumerate(weights.labels)}
    own = len(weights.labels)
    if own != len(shape) or weights.shape != shape:
        value = turned(program, value, casts=False)
        renamed = _renamed(value, names, own)
        led = _led(program, renamed, shape[:-2])
        if led is None or weights.labels[:-1] != tuple(range(own - 1)) or product.rank != own:
            return None
        last = len(shape) - 1
        labels = tuple(
            VALUE if label == VALUE else last if label == own - 1 else label for label in led.labels
        )
        return replace(led, labels=labels), (*range(last), VALUE)
    labels = tuple(names.get(label, VALUE) for label in range(product.rank))
    return _renamed(value, names, own), labels


def _renamed(value: Operand, names: dict[Label, Label], rank: int) -> Operand:
    known = {**names, None: None, INNER: rank - 1}
    return replace(value, labels=tuple(known.get(label, VALUE) for label in value.labels))


def _led(program: Program, given: Operand, lead: Shape) -> Operand | None:
    """With leading dimensions as the scores have them; before a reshape that grouped them, if that is all it did."""
    op = program.ops.get(given.name)
    found = leading(program, given, lead)
    if found is not None and op is not None and op.base in RESHAPES:
        source = op.reads[0]
        if program.types[source].shape == found.shape:
            return turned(program, replace(found, name=source), casts=False)
    return found


def unscaled(program: Program, given: Operand, narrow: bool) -> tuple[Operand, tuple[float, ...]]:
    """The operand before a multiplication by a number, and that number."""
    factor: tuple[float, ...] = (1.0,) * program.workloads
    while True:
        given = turned(program, given, casts=narrow)
        op = program.ops.get(given.name)
        if op is None or op.base not in ("mul", "div") or operand(op) is None or "rounding_mode" in op.kwargs:
            return given, factor
        number = uniform(program, op.args[1])
        same = program.types[op.reads[0]] == program.types[op.name]
        if number is None or min(number) <= 0 or not same or not isinstance(op.args[1], Number):
            return given, factor
        times = tuple(1.0 / n if op.base == "div" else float(n) for n in number)
        given, factor = replace(given, name=op.reads[0]), _times(factor, times)


def _times(one: tuple[float, ...], two: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(a * b for a, b in zip(one, two, strict=True))


def repeated(program: Program, given: Operand) -> Operand | None:
    """The operand before each of its heads was repeated for a group of queries' heads."""
    op = program.ops.get(given.name)
    if op is None or given.shape != program.types[given.name].shape:
        return None
    if op.base == "repeat_interleave" and isinstance(op.args[1], Number) and len(op.args) > 2:
        return turned(
            program, Operand(op.reads[0], given.labels, program.types[op.reads[0]].shape), casts=False
        )
    spread = program.ops.get(op.reads[0]) if op.base in RESHAPES and op.reads else None
    if spread is None or spread.base != "expand":
        return None
    whole, once = program.types[spread.name].shape, program.types[spread.reads[0]].shape
    place = _group_place(given.shape, whole, once, program.one())
    if place is None:
        return None
    return _squeezed(program, spread.reads[0], given, (*once[: place + 1], *once[place + 2 :]))


def _group_place(merged: Shape, whole: Shape, once: Shape, one: Vector) -> int | None:
    """The dimension of `merged` that holds (heads, group) of `whole`, where `once` has one of each group."""
    if len(whole) != len(merged) + 1 or len(once) != len(whole):
        return None
    for place in range(len(merged)):
        outside = (*whole[:place], *whole[place + 2 :])
        inside = (*once[: place + 1], one, *once[place + 2 :])
        same = (*merged[:place], *merged[place + 1 :]) == outside
        if same and once == inside and once[: place + 1] == whole[: place + 1] and once[place + 1] == one:
            return place
    return None


def _squeezed(program: Program, name: str, given: Operand, shape: Shape) -> Operand:
    op = program.ops.get(name)
    if op is not None and op.base == "unsqueeze" and program.types[op.reads[0]].shape == shape:
        name = op.reads[0]
    found = Operand(name, given.labels, shape)
    return turned(program, found, casts=False)
