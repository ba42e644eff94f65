"""Axes: expressions that have no value, sizes that cannot be, values the definition does not ask for."""

from collections.abc import Iterator, Set

from tasks.definition import AxisConst, AxisExpr, AxisVar, Definition
from tasks.document import Document, json_path
from tasks.expression import evaluate, names_in
from tasks.sizes import gib, input_bytes, output_bytes
from tasks.task import LintFinding
from tasks.workload import Workload

LARGEST_AXIS = 2**31 - 1
"""Above it 32-bit sizes and indices overflow in launch grids, in Triton and in many library calls."""
LARGEST_WORKLOAD = 2**40
"""Bytes of all inputs and outputs together; five times the memory of a B200."""


def expression_findings(
    definition: Definition, document: Document, given: Set[str] = frozenset()
) -> Iterator[LintFinding]:
    """Expressions in file order; `given` are axes to which every workload gives a value."""
    known = {n for n, axis in definition.axes.items() if not isinstance(axis, AxisExpr)} | given
    constant = {n: a.value for n, a in definition.axes.items() if isinstance(a, AxisConst) and n not in given}
    for name, axis in definition.axes.items():
        if not isinstance(axis, AxisExpr):
            continue
        field = json_path(("axes", name, "expression"))
        try:
            names = names_in(axis.expression)
            unknown = sorted(names - known)
            if names <= constant.keys():  # no workload can change it, so that it is no workload's fault
                constant[name] = evaluate(axis.expression, constant)
        except ValueError as error:
            yield document.finding("error", "bad-expression", field, str(error), "correct the expression")
        else:
            if unknown:
                yield _unresolved(definition, name, unknown[0], document, field)
        known.add(name)


def _unresolved(
    definition: Definition, name: str, needed: str, document: Document, field: str
) -> LintFinding:
    if needed not in definition.axes:
        return document.finding(
            "error",
            "undefined-axis",
            field,
            f"uses axis {needed!r}, which is not defined",
            "add it to `axes`",
        )
    if _reaches(definition, needed, name):
        return document.finding(
            "error", "axis-cycle", field, f"depends on itself through {needed!r}", "break the cycle"
        )
    return document.finding(
        "error", "axis-order", field, f"uses axis {needed!r}, which stands later", f"move {needed!r} above it"
    )


def _reaches(definition: Definition, start: str, goal: str) -> bool:
    pending, seen = [start], set[str]()
    while pending:
        name = pending.pop()
        if name == goal:
            return True
        axis = definition.axes.get(name)
        if name not in seen and isinstance(axis, AxisExpr):
            seen.add(name)
            try:
                pending.extend(names_in(axis.expression))
            except ValueError:
                continue
    return False


def axis_findings(definition: Definition, workload: Workload, document: Document) -> Iterator[LintFinding]:
    """One workload's values: lengths that cannot be, and axes to which none is to be given."""
    for name, value in workload.axes.items():
        field = json_path(("axes", name))
        if value > LARGEST_AXIS:
            yield document.finding(
                "error",
                "axis-too-long",
                field,
                "is above 2^31 - 1",
                "give the length that is meant",
            )
        elif name not in definition.axes:
            yield document.finding(
                "warning",
                "unknown-axis",
                field,
                "is no axis of the definition",
                "remove it, or check its name",
            )
        else:
            yield from _restated(definition, name, value, document, field)


def _restated(
    definition: Definition, name: str, value: int, document: Document, field: str
) -> Iterator[LintFinding]:
    axis = definition.axes[name]
    if isinstance(axis, AxisConst) and axis.value != value:
        yield document.finding(
            "warning", "overridden-constant", field, f"replaces the constant {axis.value}", "remove it"
        )
    elif isinstance(axis, AxisExpr):
        yield document.finding(
            "note", "recomputed-axis", field, f"is computed ({axis.expression}), not read", "remove it"
        )


def shape_findings(definition: Definition, workload: Workload, document: Document) -> Iterator[LintFinding]:
    """Whether one workload's values give every tensor a shape that can exist."""
    try:
        shapes = definition.input_shapes(workload.axes) | definition.output_shapes(workload.axes)
        total = input_bytes(definition, workload.axes) + output_bytes(definition, workload.axes)
    except ValueError as error:
        yield document.finding(
            "error", "no-shape", "axes", str(error), "correct the axes or their expressions"
        )
        return
    for name, shape in shapes.items():
        if any(length < 0 for length in shape or ()):
            yield document.finding(
                "error",
                "negative-length",
                "axes",
                f"gives {name!r} the shape {list(shape or ())}",
                "correct the axes",
            )
            return
        if any(length > LARGEST_AXIS for length in shape or ()):
            yield document.finding(
                "error", "axis-too-long", "axes", f"gives {name!r} a side above 2^31 - 1", "correct the axes"
            )
            return
    if total > LARGEST_WORKLOAD:
        yield document.finding(
            "error",
            "too-large",
            "axes",
            f"asks for {gib(total)} of inputs and outputs, more than any GPU holds",
            "give smaller axes",
        )
    yield from (
        document.finding("warning", "missing-axis", "axes", f"lacks a value for {name!r}", "add it")
        for name, axis in definition.axes.items()
        if isinstance(axis, AxisVar) and name not in workload.axes
    )
