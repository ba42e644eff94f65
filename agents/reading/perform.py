"""A reference performed on a few numbers, without running its code.

A family recognises a computation by what it gives: the reference's text is followed step by step on small tensors,
loops and branches included, with nothing but the functions of `vocabulary`. That a formula gives the same on random
numbers, in fp64 to ten digits, is as good as a proof that it is the same formula, however it was written.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from agents.reading.expressions import Expressions
from agents.reading.names import imported_aliases
from agents.reading.scope import CannotPerform, Function, Path, Scope

__all__ = ["CannotPerform", "perform"]


class _Returned(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class _Continued(Exception):
    pass


def perform(
    reference: str, inputs: Sequence[Any], wide: bool = True, literals: Mapping[int, int] | None = None
) -> list[Any]:
    """What `run(*inputs)` returns, as a list; `CannotPerform` for whatever stands in the way.

    `wide`: every floating-point tensor is kept in fp64, conversions between floating-point types do nothing, and so
    roundings vanish; otherwise types are as written. `literals`: whole numbers in the text that stand for others,
    for a reference that has its sizes written into it.
    """
    import torch

    module = ast.parse(reference)
    performer = _Performer(wide, dict(literals or {}))
    try:
        with torch.no_grad():
            result = performer.call_run(module, [performer.widened(value) for value in inputs])
    except (
        RuntimeError,
        TypeError,
        ValueError,
        IndexError,
        KeyError,
        AttributeError,
        ArithmeticError,
    ) as error:
        raise CannotPerform(str(error)) from error
    if isinstance(result, dict):
        return list(result.values())
    return list(result) if isinstance(result, tuple | list) else [result]


class _Performer(Expressions):
    """Statements; what they hold is worked out by `Expressions`."""

    def call_run(self, module: ast.Module, inputs: list[Any]) -> Any:
        self.top.names.update({name: Path(path) for name, path in imported_aliases(module.body).items()})
        for node in module.body:
            if isinstance(node, ast.Assign | ast.AnnAssign | ast.FunctionDef):
                self._do_if_it_works(node)
        run = self.top.find("run")
        if not isinstance(run, Function):
            raise CannotPerform("run is no function")
        return self.call(run, inputs, {})

    def _do_if_it_works(self, node: ast.stmt) -> None:
        """A constant that only a generator of inputs wants need not be in the vocabulary."""
        try:
            self.do(node, self.top)
        except CannotPerform:
            return

    def call(self, function: Function, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
        spec = function.node.args
        names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        if spec.vararg or spec.kwarg or len(arguments) > len(names):
            raise CannotPerform("arguments that do not fit")
        defaults = dict(zip(names[len(names) - len(spec.defaults) :], spec.defaults, strict=True))
        defaults |= {
            a.arg: d for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d is not None
        }
        bound = {name: self.value(node, function.scope) for name, node in defaults.items()}
        bound.update(zip(names, arguments, strict=False))
        bound.update(keywords)
        try:
            self.do_all(function.node.body, Scope(bound, function.scope))
        except _Returned as returned:
            return returned.value
        return None

    def do_all(self, nodes: Sequence[ast.stmt], scope: Scope) -> None:
        for node in nodes:
            self.do(node, scope)

    def do(self, node: ast.stmt, scope: Scope) -> None:
        self.count()
        match node:
            case ast.Assign(targets=targets, value=value):
                result = self.value(value, scope)
                for target in targets:
                    self.store(target, result, scope)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.store(target, self.value(value, scope), scope)
            case ast.AugAssign(target=target, op=op, value=value):
                read = ast.parse(ast.unparse(target), mode="eval").body
                changed = self.binary(op, self.value(read, scope), self.value(value, scope))
                self.store(target, changed, scope)
            case ast.Expr(value=value):
                if not isinstance(value, ast.Constant):
                    self.value(value, scope)
            case _:
                self._control(node, scope)

    def _control(self, node: ast.stmt, scope: Scope) -> None:
        match node:
            case ast.Return(value=value):
                raise _Returned(None if value is None else self.value(value, scope))
            case ast.FunctionDef(name=name):
                scope.names[name] = Function(node, scope)
            case ast.If(test=test, body=body, orelse=orelse):
                self.do_all(body if self.value(test, scope) else orelse, scope)
            case ast.For(target=target, iter=iterated, body=body, orelse=[]):
                self._loop(target, self.value(iterated, scope), body, scope)
            case ast.With(body=body):
                self.do_all(body, scope)
            case ast.Continue():
                raise _Continued
            case ast.Pass() | ast.Assert() | ast.Import() | ast.ImportFrom():
                return  # an assertion is about sizes, which are others here
            case _:
                raise CannotPerform(f"a statement of kind {type(node).__name__}")

    def _loop(self, target: ast.expr, values: Any, body: list[ast.stmt], scope: Scope) -> None:
        for value in values:
            self.store(target, value, scope)
            try:
                self.do_all(body, scope)
            except _Continued:
                continue

    def store(self, target: ast.expr, value: Any, scope: Scope) -> None:
        match target:
            case ast.Name(id=name):
                scope.names[name] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                parts = list(value)
                for part, inner in zip(parts, targets, strict=True):
                    self.store(inner, part, scope)
            case ast.Subscript(value=base, slice=index):
                self.value(base, scope)[self.index(index, scope)] = value
            case _:
                raise CannotPerform("an assignment of an unknown form")
