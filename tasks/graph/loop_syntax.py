"""Which loops of a reference may be run in part, told from the syntax tree, and their rewriting.

`for i in range(n)` becomes `for i in __graph_loop__(range(n), k)`. What the body leaves behind must not depend
on iterations that were left out: no early exit, nothing kept but tensors written in place and lists appended to.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

LOOP = "__graph_loop__"
_CHANGES = {
    "extend",
    "add",
    "update",
    "insert",
    "pop",
    "remove",
    "clear",
    "setdefault",
    "popleft",
    "appendleft",
}


@dataclass(frozen=True)
class LoopFacts:
    """What has to be looked at while the loop runs."""

    carried: frozenset[str]
    """Names that an iteration takes over from the one before: allowed for tensors only."""
    appended: frozenset[str]
    """Lists that the body appends to."""
    subscripted: frozenset[str]
    """Names that the body takes items of: where one is a list, iterations may differ in any way."""


def rewrite_loops(tree: ast.Module) -> list[LoopFacts]:
    """Rewrite `tree` in place; the facts of each loop by its number."""
    facts: list[LoopFacts] = []
    for function in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
        for loop in [n for n in ast.walk(function) if isinstance(n, ast.For)]:
            found = _facts(function, loop)
            if found is not None and not _is_wrapped(loop):
                number = ast.copy_location(ast.Constant(len(facts)), loop.iter)
                name = ast.copy_location(ast.Name(LOOP, ast.Load()), loop.iter)
                loop.iter = ast.copy_location(ast.Call(name, [loop.iter, number], []), loop.iter)
                facts.append(found)
    return facts


def _is_wrapped(loop: ast.For) -> bool:
    return (
        isinstance(loop.iter, ast.Call) and isinstance(loop.iter.func, ast.Name) and loop.iter.func.id == LOOP
    )


def _facts(function: ast.FunctionDef, loop: ast.For) -> LoopFacts | None:
    """`None` for a loop that has to be run in full."""
    called = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    if not (isinstance(called, ast.Name) and called.id == "range" and isinstance(loop.target, ast.Name)):
        return None
    body = [node for statement in loop.body for node in ast.walk(statement)]
    if loop.orelse or any(_forbids(node) for node in body) or _leaves_early(loop.body):
        return None
    stored = {n.id for n in body if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    if _loaded_after(function, loop) & (stored | {loop.target.id}) - _carried(loop.body, stored):
        return None
    return LoopFacts(
        carried=frozenset(_carried(loop.body, stored)),
        appended=frozenset(
            n.func.value.id for n in body
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute) and n.func.attr == "append"
            and isinstance(n.func.value, ast.Name)
        ),
        subscripted=frozenset(
            n.value.id for n in body if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name)
        ),
    )  # fmt: skip


def _forbids(node: ast.AST) -> bool:
    if isinstance(
        node, ast.Return | ast.Yield | ast.YieldFrom | ast.Global | ast.Nonlocal | ast.Await | ast.Try
    ):
        return True
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return True
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _CHANGES or (
            node.func.attr == "append" and not isinstance(node.func.value, ast.Name)
        )
    return False


def _leaves_early(body: list[ast.stmt]) -> bool:
    """A `break` of this loop, not of one inside."""
    for statement in body:
        if isinstance(statement, ast.Break):
            return True
        if not isinstance(statement, ast.For | ast.While | ast.FunctionDef) and _leaves_early(
            [n for n in ast.iter_child_nodes(statement) if isinstance(n, ast.stmt)]
        ):
            return True
    return False


def _carried(body: list[ast.stmt], stored: set[str]) -> set[str]:
    """Names that are read before this iteration has set them, and set somewhere in it."""
    known: set[str] = set()
    carried: set[str] = set()
    for statement in body:
        names = [n for n in ast.walk(statement) if isinstance(n, ast.Name)]
        loads = {n.id for n in names if isinstance(n.ctx, ast.Load)}
        if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
            loads.add(statement.target.id)
        stores = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        simple = isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr)
        inner = stores if not simple else set()  # set and read inside an `if` or a loop: taken as its own
        carried |= (loads & stored) - known - (inner - _read_first(statement))
        known |= stores
    return carried


def _read_first(statement: ast.stmt) -> set[str]:
    """Of a compound statement, the names whose first mention is a reading."""
    first: dict[str, bool] = {}
    names = [n for n in ast.walk(statement) if isinstance(n, ast.Name)]
    for name in sorted(names, key=lambda n: (n.lineno, isinstance(n.ctx, ast.Store), n.col_offset)):
        first.setdefault(name.id, isinstance(name.ctx, ast.Load))
    augmented = {
        n.target.id for n in ast.walk(statement)
        if isinstance(n, ast.AugAssign) and isinstance(n.target, ast.Name)
    }  # fmt: skip
    return {name for name, read in first.items() if read} | augmented


def _loaded_after(function: ast.FunctionDef, loop: ast.For) -> set[str]:
    end = loop.end_lineno or loop.lineno
    return {
        n.id for n in ast.walk(function)
        if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and n.lineno > end
        and not _set_between(function, n, end)
    }  # fmt: skip


def _set_between(function: ast.FunctionDef, load: ast.Name, end: int) -> bool:
    """Whether the name is given anew between the loop and where it is read."""
    return any(
        isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and n.id == load.id
        and end < n.lineno < load.lineno
        for n in ast.walk(function)
    )  # fmt: skip
