"""Whether an operation can join the kernel that makes what it reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from tasks.graph.kinds import name_of
from tasks.graph.model import Kind
from tasks.graph.steps import Step

WIDEST_ROW = 65_536
"""Elements of a row that one block can hold; a longer reduction has to meet other blocks."""
WIDEST_TILE = 512
"""Columns of a matrix product that one block can hold, so that whole rows of it can be reduced there."""
DEEPEST_SCORE = 1024
"""Terms of a score, query by key; a deeper product is no attention."""
WIDEST_SORT = 4096
_BATCHED = {"bmm", "baddbmm", "mv", "addmv", "dot"}


@dataclass(slots=True)
class Draft:
    """A group that is being made."""

    kind: Kind
    times: int
    steps: list[Step] = field(default_factory=list)
    made: set[str] = field(default_factory=set)
    """Roots made in it."""
    barriers: set[str] = field(default_factory=set)
    """Roots made by a reduction over all blocks: nothing that reads them can be in the same kernel."""
    elements: int = 0
    """Of its largest tensor."""

    def add(self, step: Step) -> None:
        self.steps.append(step)
        self.made.update(made.name for made in step.outputs)
        read = step.read_elements if effective_kind(step) == "rows" else 0  # at hand, row by row
        self.elements = max(self.elements, elements_of(step), read)
        if is_wide_reduction(step):
            self.barriers.update(made.name for made in step.outputs)


def elements_of(step: Step) -> int:
    return max((prod(made.shape) for made in step.outputs), default=0)


def effective_kind(step: Step) -> Kind:
    """Sorting and scanning short rows is done as reducing them is."""
    kind = step.work.kind
    if kind in ("sort", "scan") and step.outputs and step.outputs[0].shape:
        name = name_of(step.function)
        widest = WIDEST_ROW if kind == "scan" else WIDEST_SORT
        if name not in _WHOLE and _row_width(step) <= widest:
            return "rows"
    return kind


_WHOLE = {
    "nonzero",
    "_unique2",
    "unique_consecutive",
    "bincount",
    "histc",
    "masked_select",
    "_unique",
    "unique_dim",
}


def is_wide_reduction(step: Step) -> bool:
    return step.work.kind == "rows" and _row_width(step) > WIDEST_ROW


def joins(draft: Draft, step: Step, edge: int) -> bool:
    """Whether `step`, which reads `edge` elements of what `draft` makes, can be part of it."""
    if step.times != draft.times or draft.barriers.intersection(step.roots) or draft.kind == "opaque":
        return False
    return _RULES[effective_kind(step)](draft, step, edge)


def _pointwise(draft: Draft, step: Step, edge: int) -> bool:
    """As an epilogue of anything that has its elements at hand; broadcasting only over what is there."""
    return draft.kind != "sort" and elements_of(step) <= max(edge, draft.elements) * 2


def _rows(draft: Draft, step: Step, edge: int) -> bool:
    width = _row_width(step)
    if draft.kind in ("pointwise", "rows", "gather", "make", "scatter"):
        return width <= WIDEST_ROW or draft.kind == "pointwise"
    if draft.kind == "attention":
        return True
    if draft.kind == "matmul":
        return width <= WIDEST_TILE or _is_score(draft)
    return False


def _is_score(draft: Draft) -> bool:
    products = [step for step in draft.steps if step.work.kind == "matmul"]
    if len(products) != 1 or name_of(products[0].function) not in _BATCHED:
        return False
    flops = sum(products[0].work.flops.values())
    return flops <= 2 * DEEPEST_SCORE * max(elements_of(products[0]), 1)


def _matmul(draft: Draft, step: Step, edge: int) -> bool:
    """The second product of an attention, which weighs values by all the scores."""
    products = [one for one in draft.steps if one.work.kind == "matmul"]
    return draft.kind == "attention" and len(products) == 1 and edge >= elements_of(products[0])


def _scatter(draft: Draft, step: Step, edge: int) -> bool:
    return draft.kind not in ("sort", "opaque")


def _gather(draft: Draft, step: Step, edge: int) -> bool:
    """Only its indices can come from the same kernel; what it looks up has to be complete."""
    return draft.kind in ("pointwise", "rows", "make") and step.roots[0] not in draft.made


def _never(draft: Draft, step: Step, edge: int) -> bool:
    return False


_RULES = {
    "pointwise": _pointwise, "rows": _rows, "matmul": _matmul, "scatter": _scatter, "gather": _gather,
    "attention": _never, "sort": _never, "scan": _never, "opaque": _never, "make": _never, "view": _never,
}  # fmt: skip


def kind_after(draft: Draft, step: Step) -> Kind:
    """What a group is called once `step` has joined it."""
    kind = effective_kind(step)
    if draft.kind == "matmul" and kind == "rows" and _is_score(draft):
        return "attention"
    order = ("make", "pointwise", "gather", "scatter", "rows", "matmul", "attention")
    if draft.kind not in order or kind not in order:
        return draft.kind
    return draft.kind if order.index(draft.kind) >= order.index(kind) else kind


def _row_width(step: Step) -> int:
    """Elements that one result is made of, or that lie in a row of the result."""
    read = max(step.read_elements, 1)
    made = min((prod(made.shape) for made in step.outputs), default=1)
    if made >= read or step.work.kind in ("sort", "scan"):
        shape = max((made.shape for made in step.outputs), key=prod, default=())
        last = shape[-1] if shape else 1
        return (
            max(last, read // max(made, 1))
            if step.work.kind != "sort"
            else max(last, read * last // max(made, 1))
        )
    return read // max(made, 1)
