"""Statements opened up into plainer ones that mean the same: no `with no_grad`, one target an assignment."""

import ast
import copy
from collections.abc import Iterator

from agents.reading.names import SubstituteNames


def plain_body(body: list[ast.stmt]) -> list[ast.stmt]:
    """`body` with `with torch.no_grad()` opened, and assignments from short comprehensions written out."""
    return [plain for node in body for plain in _plain(node)]


def _plain(node: ast.stmt) -> Iterator[ast.stmt]:
    match node:
        case ast.With(items=[ast.withitem(context_expr=ast.Call(func=ast.Attribute(attr="no_grad")))]):
            yield from plain_body(node.body)
        case ast.Assign(targets=[ast.Tuple() as target], value=ast.GeneratorExp() | ast.ListComp() as made):
            yield ast.Assign([target], _written_out(made, len(target.elts)) or made, lineno=node.lineno)
        case _:
            yield node


def _written_out(made: ast.GeneratorExp | ast.ListComp, length: int) -> ast.Tuple | None:
    """`(f(a), f(b))` for `(f(t) for t in (a, b))`."""
    match made.generators:
        case [
            ast.comprehension(
                target=ast.Name(id=name),
                iter=ast.Tuple(elts=items) | ast.List(elts=items),
                ifs=[],
                is_async=0,
            )
        ] if len(items) == length:
            return ast.Tuple(
                [SubstituteNames({name: item}).visit(copy.deepcopy(made.elt)) for item in items], ast.Load()
            )
    return None
