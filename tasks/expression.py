"""Axis expressions: numbers, axis names, + - * / // % **, parentheses and signs, and nothing else."""

import ast
import operator
from collections.abc import Callable, Mapping

_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_MOST_BITS = 4096
"""Intermediate integers may grow this far; an exponent tower stops here instead of filling the memory."""

_LONGEST = 2000


def names_in(expression: str) -> set[str]:
    """The axis names that `expression` mentions; `ValueError` when it does not parse."""
    return {node.id for node in ast.walk(_parse(expression)) if isinstance(node, ast.Name)}


def evaluate(expression: str, axes: Mapping[str, int]) -> int:
    """The integer that `expression` stands for; `ValueError` says why there is none."""
    tree = _parse(expression)
    try:
        value = _evaluate(tree.body, axes)
    except (ZeroDivisionError, OverflowError, RecursionError, TypeError) as error:
        raise ValueError(f"expression {_short(expression)} has no value: {error}") from error
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        raise ValueError(f"expression {_short(expression)} is {value}, not an integer")
    return int(value)


def _parse(expression: str) -> ast.Expression:
    if len(expression) > _LONGEST:
        raise ValueError(f"expression {_short(expression)} is longer than {_LONGEST} characters")
    try:
        return ast.parse(expression, mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"expression {_short(expression)} does not parse") from error


def _short(expression: str) -> str:
    return repr(expression if len(expression) <= 60 else f"{expression[:57]}...")


def _evaluate(node: ast.expr, axes: Mapping[str, int]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number):
            return _bounded(number)
        case ast.Name(id=name):
            if name not in axes:
                raise ValueError(
                    f"axis {name!r} has no value yet (undefined, later in the list, or in a cycle)"
                )
            return axes[name]
        case ast.UnaryOp(op=ast.UAdd() | ast.USub() as sign, operand=operand):
            value = _evaluate(operand, axes)
            return -value if isinstance(sign, ast.USub) else value
        case ast.BinOp(left=left, op=op, right=right):
            return _bounded(_combine(op, _evaluate(left, axes), _evaluate(right, axes)))
    raise ValueError("an axis expression holds only numbers, axis names, + - * / // % ** and parentheses")


def _combine(op: ast.operator, a: float, b: float) -> float:
    if isinstance(op, ast.Pow):
        if isinstance(a, int) and isinstance(b, int) and a.bit_length() * b > _MOST_BITS and abs(a) > 1:
            raise ValueError("a power in an axis expression is too large")
        return _real(a**b)
    if type(op) not in _BINARY:
        raise ValueError("an axis expression knows only + - * / // % **")
    return _BINARY[type(op)](a, b)


def _real(value: complex) -> float:
    if isinstance(value, complex):
        raise ValueError("a root of a negative number is no axis length")
    return value


def _bounded(value: float) -> float:
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise ValueError("a number in an axis expression is too large")
    return value
