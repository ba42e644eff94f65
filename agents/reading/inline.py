"""Helper functions that can be written out where they are called: steps, then one returned expression."""

import ast
from dataclasses import dataclass

from agents.reading.names import pinned_names
from agents.reading.plain import plain_body


@dataclass(frozen=True)
class FunctionBody:
    name: str
    parameters: tuple[str, ...]
    defaults: dict[str, ast.expr]
    steps: tuple[ast.stmt, ...]
    """Assignments only."""
    result: ast.expr
    is_inner: bool
    """Defined inside the caller, and so it sees the caller's names."""


def body_of(function: ast.FunctionDef, is_inner: bool) -> FunctionBody | None:
    """None unless `function` is a list of assignments and one return, without `*args` and in-place changes."""
    arguments = function.args
    function = ast.FunctionDef(
        function.name, arguments, plain_body(function.body), function.decorator_list, lineno=function.lineno
    )
    if arguments.vararg or arguments.kwarg or function.decorator_list or pinned_names(function):
        return None
    body = [node for node in function.body if not _says_nothing(node)]
    if not body or not isinstance(body[-1], ast.Return) or body[-1].value is None:
        return None
    if not all(isinstance(node, ast.Assign) and len(node.targets) == 1 for node in body[:-1]):
        return None
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    defaults = dict(
        zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True)
    )
    for keyword, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            defaults[keyword.arg] = default
    parameters = (*positional, *(a.arg for a in arguments.kwonlyargs))
    return FunctionBody(function.name, parameters, defaults, tuple(body[:-1]), body[-1].value, is_inner)


def bind(body: FunctionBody, call: ast.Call) -> dict[str, ast.expr] | None:
    """Every parameter's argument expression, in the caller's names; None when the call does not fit."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or len(call.args) > len(body.parameters):
        return None
    bound = dict(zip(body.parameters, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in bound or keyword.arg not in body.parameters:
            return None
        bound[keyword.arg] = keyword.value
    for parameter in body.parameters:
        if parameter not in bound:
            if parameter not in body.defaults:
                return None
            bound[parameter] = body.defaults[parameter]
    return {parameter: bound[parameter] for parameter in body.parameters}


def _says_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assert | ast.Pass) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )
