"""A reference as straight-line code: helpers inlined, and every name assigned once.

    x = hidden.float()              x = hidden.float()
    x = x * scale(x)        ->      result = torch.rsqrt(x.pow(2).mean(-1))
    return x                        x_2 = x * result
                                    return x_2

Loops, branches and in-place changes are kept as they are: the names they touch are *pinned*, which is to say
that they keep their name and nothing is concluded about their value.
"""

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from agents.reading.inline import FunctionBody, bind, body_of
from agents.reading.names import Renaming, bound_names, imported_aliases, pinned_names
from agents.reading.plain import plain_body

_LONGEST = 2000
"""Statements after inlining; a reference that grows beyond this is left alone."""


class NotStraight(Exception):
    """This reference cannot be written as straight-line code."""


@dataclass
class Straight:
    """`run` as a list of statements that end in one returned expression."""

    prelude: list[ast.stmt]
    """Imports, constants, classes and helper functions of the module."""
    parameters: ast.arguments
    statements: list[ast.stmt]
    result: ast.expr
    aliases: dict[str, str]
    pinned: frozenset[str]
    taken: set[str] = field(default_factory=set)
    """Every name in use."""

    def fresh(self, wish: str) -> str:
        name, number = wish, 2
        while name in self.taken:
            name, number = f"{wish}_{number}", number + 1
        self.taken.add(name)
        return name


def straighten(reference: str, entry: str = "run") -> Straight:
    """`NotStraight` when the function returns in more than one place or is otherwise too unlike a list of steps."""
    module = ast.parse(reference)
    run = next((n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == entry), None)
    if run is None:
        raise NotStraight(f"there is no function {entry}")
    run.body = plain_body(run.body)
    if not isinstance(run.body[-1], ast.Return) or run.body[-1].value is None:
        raise NotStraight("the function does not end in its one return")
    if sum(isinstance(node, ast.Return) for node in _own_nodes(run)) != 1:
        raise NotStraight("the function returns in more than one place")
    prelude = [node for node in module.body if node is not run]
    return _Straightener(run, prelude).straight()


class _Straightener:
    def __init__(self, run: ast.FunctionDef, prelude: list[ast.stmt]) -> None:
        self._run, self._prelude = run, prelude
        self._functions: dict[str, FunctionBody] = {}
        for node in prelude:
            self._learn(node)
        self._pinned = pinned_names(run)
        parameters = {a.arg for a in (*run.args.posonlyargs, *run.args.args, *run.args.kwonlyargs)}
        taken = {name for node in prelude for name in bound_names(node)} | self._pinned | parameters
        aliases = imported_aliases([*prelude, *run.body])
        self._out = Straight(prelude, run.args, [], ast.Constant(None), aliases, self._pinned, taken)
        self._inner: set[str] = set()
        self._names: dict[str, str] = {name: name for name in parameters | self._pinned}

    def straight(self) -> Straight:
        for node in self._run.body:
            self._take(node)
        kept: list[ast.AST] = [*self._out.statements, self._out.result]
        if any(self._inner & {n.id for n in ast.walk(k) if isinstance(n, ast.Name)} for k in kept):
            raise NotStraight("an inner function is used where it cannot be written out")
        return self._out

    def _take(self, node: ast.stmt) -> None:
        if len(self._out.statements) > _LONGEST:
            raise NotStraight("too many statements")
        match node:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Assert():
                return
            case ast.Import() | ast.ImportFrom():
                self._out.prelude = [*self._out.prelude, node]
            case ast.FunctionDef():
                self._learn(node, inner=True)
            case ast.Return(value=ast.expr() as value):
                self._out.result = self._expression(value)
            case ast.Assign() | ast.AnnAssign(value=ast.expr()):
                self._take_assignment(node)
            case _:
                self._keep(node)

    def _take_assignment(self, node: ast.Assign | ast.AnnAssign) -> None:
        match node:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(
                targets
            ) == len(values):
                read = [self._expression(value) for value in values]
                for target, value in zip(targets, read, strict=True):
                    self._assign(target, value)
            case ast.Assign(targets=targets, value=value):
                self._assign_all(targets, self._expression(value))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._expression(value))

    def _learn(self, node: ast.stmt, inner: bool = False) -> None:
        if isinstance(node, ast.FunctionDef):
            body = body_of(node, inner)
            if body is not None:
                self._functions[node.name] = body
            if inner:
                self._inner.add(node.name)

    def _keep(self, node: ast.stmt) -> None:
        """A loop, a branch or an in-place change: only what it reads is renamed."""
        self._out.statements.append(Renaming(self._names).visit(_copy(node)))

    def _assign_all(self, targets: list[ast.expr], value: ast.expr) -> None:
        for target in targets:
            self._assign(target, value)
            if isinstance(target, ast.Name):
                value = ast.Name(self._names[target.id], ast.Load())

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        stored = [n.id for n in ast.walk(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        if not stored:
            self._out.statements.append(
                ast.Assign([Renaming(self._names).visit(_copy(target))], value, lineno=0)
            )
            return
        for name in stored:
            self._names[name] = name if name in self._pinned else self._out.fresh(_stem(name))
        renamed = Renaming(self._names).visit(_copy(target))
        self._out.statements.append(ast.Assign([renamed], value, lineno=0))

    def _expression(self, node: ast.expr) -> ast.expr:
        """`node` in current names, calls of helpers replaced by what they return."""
        renamed: ast.expr = Renaming(self._names).visit(_copy(node))
        return self._inlined(renamed)

    def _inlined(self, node: ast.expr) -> ast.expr:
        inliner = _Inliner(self)
        if isinstance(node, ast.Call):
            inliner.generic_visit(node)
            return self.inline(node) or node
        result: ast.expr = inliner.visit(node)
        return result

    def inline(self, call: ast.Call) -> ast.expr | None:
        """What `call` returns, after its steps were added; None when it calls no helper, or does not fit it."""
        body = self._functions.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if body is None:
            return None
        bound = bind(body, call)
        if bound is None:
            return None
        outer, pinned = self._names, self._pinned
        self._names = dict(outer) if body.is_inner else {}
        self._pinned = frozenset()
        for parameter, argument in bound.items():
            if isinstance(argument, ast.Name):
                self._names[parameter] = argument.id
            else:
                self._assign(ast.Name(parameter, ast.Store()), argument)
        for step in body.steps:
            self._take(_copy(step))
        result = self._expression(body.result)
        self._names, self._pinned = outer, pinned
        return result

    def named(self, value: ast.expr, wish: str) -> ast.expr:
        """A name for `value`, assigned now, unless it needs none."""
        if isinstance(value, ast.Name | ast.Constant | ast.Tuple):
            return value
        name = self._out.fresh(wish)
        self._out.statements.append(ast.Assign([ast.Name(name, ast.Store())], value, lineno=0))
        return ast.Name(name, ast.Load())


class _Inliner(ast.NodeTransformer):
    """Inner calls first; comprehensions and lambdas are left alone, since their names are their own."""

    def __init__(self, owner: _Straightener) -> None:
        self._owner = owner

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        value = self._owner.inline(node)
        return node if value is None else self._owner.named(value, f"{ast.unparse(node.func)}_result")

    def _leave(self, node: ast.AST) -> ast.AST:
        return node

    visit_Lambda = visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _leave


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Nodes of the function that are not in a function defined inside it."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _stem(name: str) -> str:
    """`x` for `x_2`, so that numbering does not pile up."""
    head, _, tail = name.rpartition("_")
    return head if head and tail.isdigit() and len(tail) == 1 else name


def _copy(node: ast.stmt | ast.expr) -> Any:
    return copy.deepcopy(node)
