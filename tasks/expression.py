"""Axis expressions: integers, axis names, + - * / // % **, parentheses and signs; nothing else is evaluated."""

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
_LARGEST_EXPONENT = 64


def names_in(expression: str) -> set[str]:
    """The axis names that `expression` mentions; `ValueError` when it does not parse."""
    try:
        tree = ast.parse(expression, mode="eval")
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"expression {expression!r} does not parse") from error
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def evaluate(expression: str, axes: Mapping[str, int]) -> int:
    """The integer that `expression` stands for; `ValueError` says why there is none."""
    names_in(expression)
    try:
        value = _evaluate(ast.parse(expression, mode="eval").body, axes)
    except (ZeroDivisionError, OverflowError, RecursionError) as error:
        raise ValueError(f"expression {expression!r}: {error}") from error
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        raise ValueError(f"expression {expression!r} is {value}, not an integer")
    return value


def _evaluate(node: ast.expr, axes: Mapping[str, int]) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
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
            a, b = _evaluate(left, axes), _evaluate(right, axes)
            if isinstance(op, ast.Pow):
                if abs(b) > _LARGEST_EXPONENT:
                    raise ValueError(f"exponent {b} is out of range")
                return float(a**b) if b < 0 else a**b
            if type(op) in _BINARY:
                return _BINARY[type(op)](a, b)
    raise ValueError(f"{ast.unparse(node)!r} is not allowed in an axis expression")
