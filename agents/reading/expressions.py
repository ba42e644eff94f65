"""Expressions of a reference worked out on a few numbers, with nothing but the functions of `vocabulary`."""

from __future__ import annotations

import ast
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agents.reading.scope import CannotPerform, Function, Method, Path, Scope
from agents.reading.vocabulary import ATTRIBUTES, BUILTINS, FUNCTIONS, MATH, METHODS

_MOST_STEPS = 400_000
_LARGEST = 1 << 24
"""Elements of a tensor, and any number given to a function."""
_WIDENING = frozenset({"float", "half", "bfloat16", "double"})
_HOMES = ("torch.nn.functional.", "torch.special.", "torch.")

_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.MatMult: operator.matmul, ast.Pow: operator.pow,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
}  # fmt: skip
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
}  # fmt: skip
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert,
}  # fmt: skip


@dataclass
class Expressions(ABC):
    """`wide` and `literals` as `perform` takes them; `top` holds the names of the module."""

    wide: bool
    literals: dict[int, int]
    steps: int = 0
    top: Scope = field(default_factory=lambda: Scope({}))

    @abstractmethod
    def call(self, function: Function, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        """What a function of the reference's own returns."""

    @abstractmethod
    def store(self, target: ast.expr, value: Any, scope: Scope) -> None:
        """Give `target` the value, as an assignment does."""

    def value(self, node: ast.expr, scope: Scope) -> Any:
        self.count()
        match node:
            case ast.Constant(value=value):
                return self.literals.get(value, value) if type(value) is int else value
            case ast.Name(id=name):
                return self._named(name, scope)
            case ast.Tuple(elts=items) | ast.List(elts=items):
                made = [self.value(item, scope) for item in items]
                return made if isinstance(node, ast.List) else tuple(made)
            case ast.Dict(keys=keys, values=values):
                return {
                    self.value(k, scope): self.value(v, scope) for k, v in zip(keys, values, strict=True) if k
                }
            case ast.Call():
                return self._call(node, scope)
            case ast.Attribute(value=base, attr=attr):
                return self._attribute(self.value(base, scope), attr)
            case ast.Subscript(value=base, slice=index):
                return self.value(base, scope)[self.index(index, scope)]
        return self._operator(node, scope)

    def _operator(self, node: ast.expr, scope: Scope) -> Any:
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary(op, self.value(left, scope), self.value(right, scope))
            case ast.UnaryOp(op=op, operand=operand):
                return _UNARY[type(op)](self.value(operand, scope))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
                return _COMPARISONS[type(op)](self.value(left, scope), self.value(right, scope))
            case ast.BoolOp(op=ast.And(), values=values):
                return all(self.value(value, scope) for value in values)
            case ast.BoolOp(values=values):
                return any(self.value(value, scope) for value in values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.value(test, scope) else orelse, scope)
            case ast.GeneratorExp(elt=made, generators=[one]) | ast.ListComp(elt=made, generators=[one]):
                return list(self._each(made, one, scope))
        raise CannotPerform(f"an expression of kind {type(node).__name__}")

    def _each(self, made: ast.expr, one: ast.comprehension, scope: Scope) -> Iterator[Any]:
        for value in self.value(one.iter, scope):
            inner = Scope({}, scope)
            self.store(one.target, value, inner)
            if all(self.value(test, inner) for test in one.ifs):
                yield self.value(made, inner)

    def binary(self, op: ast.operator, first: Any, second: Any) -> Any:
        if isinstance(op, ast.Pow) and isinstance(second, int) and abs(second) > 64:
            raise CannotPerform("a large power")
        if isinstance(first, str | list | tuple) and not isinstance(op, ast.Add):
            raise CannotPerform("arithmetic with a list")
        return _BINARY[type(op)](first, second)

    def index(self, node: ast.expr, scope: Scope) -> Any:
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(
                    *(None if end is None else self.value(end, scope) for end in (lower, upper, step))
                )
            case ast.Tuple(elts=items):
                return tuple(self.index(item, scope) for item in items)
        return self.value(node, scope)

    def _named(self, name: str, scope: Scope) -> Any:
        try:
            return scope.find(name)
        except CannotPerform:
            if name in BUILTINS:
                return BUILTINS[name]
            raise

    def _attribute(self, base: Any, name: str) -> Any:
        import torch

        if isinstance(base, Path):
            return self._of_path(f"{base.text}.{name}")
        if name == "dtype" and self.wide and isinstance(base, torch.Tensor) and base.is_floating_point():
            return torch.float64
        if name in ATTRIBUTES and not (isinstance(base, torch.Tensor) and name in ("max", "min")):
            return getattr(base, name)
        if name in METHODS and isinstance(base, torch.Tensor):
            return Method(base, name)
        if name in ("append", "numel") and isinstance(base, list | torch.Size):
            return getattr(base, name)
        raise CannotPerform(f"the attribute {name}")

    def _of_path(self, path: str) -> Any:
        """`torch.float32`, `math.pi`; anything else stays a path until it is called."""
        import math

        import torch

        home, _, name = path.rpartition(".")
        if home == "torch" and isinstance(dtype := getattr(torch, name, None), torch.dtype):
            return torch.float64 if self.wide and dtype.is_floating_point else dtype
        if home in ("math", "torch") and name in ("pi", "inf", "e", "nan"):
            return getattr(math, name)
        return Path(path)

    def _call(self, node: ast.Call, scope: Scope) -> Any:
        function = self.value(node.func, scope)
        arguments: list[Any] = []
        for arg in node.args:
            if isinstance(arg, ast.Starred):
                arguments.extend(self.value(arg.value, scope))
            else:
                arguments.append(self.value(arg, scope))
        if any(keyword.arg is None for keyword in node.keywords):
            raise CannotPerform("a call with **")
        keywords = {str(keyword.arg): self.value(keyword.value, scope) for keyword in node.keywords}
        self._check_sizes([*arguments, *keywords.values()])
        result = self._apply(function, arguments, keywords)
        self._check_result(result)
        return result

    def _apply(self, function: Any, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        if isinstance(function, Function):
            return self.call(function, arguments, keywords)
        if isinstance(function, Method):
            return self._method(function, arguments, keywords)
        if isinstance(function, Path):
            return self._library(function.text, arguments, keywords)
        if callable(function):
            return function(*arguments, **keywords)
        raise CannotPerform("a call of what is no function")

    def _method(self, method: Method, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        import torch

        base, name = method.base, method.name
        if self.wide and base.is_floating_point() and name in (*_WIDENING, "type_as"):
            return base
        if name in _WIDENING and self.wide:
            return base.to(torch.float64)
        return self.widened(getattr(base, name)(*arguments, **keywords))

    def _library(self, path: str, arguments: list[Any], keywords: dict[str, Any]) -> Any:
        import math

        import torch

        name = path.rpartition(".")[2]
        if path.startswith("math.") and name in MATH:
            return getattr(math, name)(*arguments, **keywords)
        home = next((home for home in _HOMES if path == home + name), None)
        if home is None or name not in FUNCTIONS:
            raise CannotPerform(f"a call of {path}")
        keywords.pop("device", None)
        owner = torch if home == "torch." else torch.nn.functional if "nn" in home else torch.special
        return self.widened(getattr(owner, name)(*arguments, **keywords))

    def widened(self, value: Any) -> Any:
        import torch

        if self.wide and isinstance(value, torch.Tensor) and value.is_floating_point():
            return value.double()
        return value

    def _check_sizes(self, values: Sequence[Any]) -> None:
        for value in values:
            if isinstance(value, tuple | list):
                self._check_sizes(value)
            elif isinstance(value, int) and abs(value) > _LARGEST:
                raise CannotPerform("a large number")

    def _check_result(self, result: Any) -> None:
        import torch

        if isinstance(result, torch.Tensor) and result.numel() > _LARGEST:
            raise CannotPerform("a large tensor")

    def count(self) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise CannotPerform("too many steps")
