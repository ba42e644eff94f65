"""How many calls a reference makes from Python loops, told from its source at given axes."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tasks.definition import Definition
from tasks.resolved import Resolved


@dataclass(frozen=True)
class _Scope:
    """What is known of the names in a function: axis values, and the axes of each input."""

    axes: Mapping[str, int]
    shapes: Mapping[str, tuple[int, ...]]
    unknown: int
    """Assumed for a bound that cannot be told: the largest `var` axis, shared among the sequences."""


@dataclass(frozen=True)
class _Loop:
    """A `for`: what it runs over, the calls in its body, and the loops inside."""

    over: ast.expr
    calls: int
    inner: tuple["_Loop", ...]


class Loops:
    """The `for` loops of a reference, parsed once, priced at as many axes as wanted."""

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        functions = (n for n in ast.walk(ast.parse(definition.reference)) if isinstance(n, ast.FunctionDef))
        found = [(_assignments(f), _loops(f.body)) for f in functions]
        self._functions = [(assigned, loops) for assigned, loops in found if loops]

    def __bool__(self) -> bool:
        return bool(self._functions)

    def calls(self, at: Resolved) -> int:
        """Calls made inside loops at these sizes, an upper guess; 0 without loops."""
        if not self._functions:
            return 0
        axes = at.axes
        shapes = {name: shape for name, shape in at.inputs.items() if shape is not None}
        scope = _Scope(axes, shapes, self._unknown(axes))
        return sum(
            _calls(loops, {**axes, **_known(assigned, scope)}, scope.unknown)
            for assigned, loops in self._functions
        )

    def _unknown(self, axes: Mapping[str, int]) -> int:
        moving = [axis for axis in self._definition.var_axes if "page" not in axis]
        sequences = max((axes[axis] - 1 for axis in moving if "indptr" in axis), default=1)
        return -(-max((axes[axis] for axis in moving), default=1) // max(sequences, 1))


def _loops(body: list[ast.stmt]) -> tuple[_Loop, ...]:
    return tuple(
        _Loop(
            loop.iter,
            sum(isinstance(node, ast.Call) for statement in loop.body for node in ast.walk(statement)),
            _loops(loop.body),
        )
        for loop in _outermost_loops(body)
    )


def _calls(loops: tuple[_Loop, ...], known: Mapping[str, int], unknown: int) -> int:
    return sum(
        _iterations(loop.over, known, unknown) * (loop.calls + _calls(loop.inner, known, unknown))
        for loop in loops
    )


def _outermost_loops(body: list[ast.stmt]) -> Iterator[ast.For]:
    for statement in body:
        if isinstance(statement, ast.For):
            yield statement
        else:
            nested = [n for n in ast.iter_child_nodes(statement) if isinstance(n, ast.stmt)]
            yield from _outermost_loops(nested)


def _iterations(iterated: ast.expr, known: Mapping[str, int], unknown: int) -> int:
    match iterated:
        case (
            ast.Call(func=ast.Name(id="range"), args=[stop])
            | ast.Call(func=ast.Name(id="range"), args=[_, stop, *_])
        ):
            value = _value(stop, known)
            return unknown if value is None else max(value, 0)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return len(items)
    return unknown


def _assignments(function: ast.FunctionDef) -> tuple[tuple[ast.expr, ast.expr], ...]:
    nodes = [n for n in ast.walk(function) if isinstance(n, ast.Assign) and len(n.targets) == 1]
    return tuple((node.targets[0], node.value) for node in nodes)


def _known(assigned: tuple[tuple[ast.expr, ast.expr], ...], scope: _Scope) -> dict[str, int]:
    """Names set to a size: `a, b = x.shape`, `a = x.shape[0]`, `a = sizes["axis"]`, or arithmetic on those."""
    known: dict[str, int] = {}
    for target, value in assigned:
        match target, value:
            case ast.Tuple(elts=names), ast.Attribute(value=ast.Name(id=tensor), attr="shape"):
                sizes = scope.shapes.get(tensor, ())
                known.update({n.id: s for n, s in zip(names, sizes, strict=False) if isinstance(n, ast.Name)})
            case ast.Name(id=name), _:
                size = _size(value, scope)
                size = _value(value, {**scope.axes, **known}) if size is None else size
                if size is not None:
                    known[name] = size
    return known


def _size(node: ast.expr, scope: _Scope) -> int | None:
    match node:
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=tensor), attr="shape"), slice=index):
            shape, position = scope.shapes.get(tensor), _value(index, {})
            if shape is None or position is None or not -len(shape) <= position < len(shape):
                return None
            return shape[position]
        case ast.Subscript(slice=ast.Constant(value=str() as axis)):
            return scope.axes.get(axis)
    return None


def _value(node: ast.expr, known: Mapping[str, int]) -> int | None:
    match node:
        case ast.Constant(value=int() as number):
            return number
        case ast.Name(id=name):
            return known.get(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _value(operand, known)
            return None if inner is None else -inner
        case ast.BinOp(left=left, op=op, right=right):
            return _arithmetic(op, _value(left, known), _value(right, known))
    return None


def _arithmetic(op: ast.operator, left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return None
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.FloorDiv():
            return left // right if right else None
    return None
