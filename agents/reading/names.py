"""Names in a function: which are stored, which must keep their name, what imports stand for."""

import ast
from collections.abc import Iterable, Mapping

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def stored_names(node: ast.AST) -> set[str]:
    """Names that `node`, or anything in it, assigns to or deletes."""
    return {
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store | ast.Del)
    }


def bound_names(node: ast.stmt) -> set[str]:
    """Names that the statement binds in the scope it stands in."""
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(alias.asname or alias.name).split(".")[0] for alias in names}
    return stored_names(node)


def pinned_names(function: ast.FunctionDef) -> frozenset[str]:
    """Names of `function` whose value a name alone does not tell.

    Those stored in a loop or a branch, changed in place, passed to `out=`, or bound by a comprehension or lambda.
    """
    pinned: set[str] = set()
    for node in function.body:
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.FunctionDef | ast.Import | ast.ImportFrom):
            pinned |= stored_names(node)
        if not isinstance(node, ast.FunctionDef):
            for inner in ast.walk(node):
                pinned |= _pinned_by(inner)
    return frozenset(pinned)


def _pinned_by(node: ast.AST) -> set[str]:
    match node:
        case ast.Assign(targets=targets):
            roots = {
                _root(t)
                for target in targets
                for t in ast.walk(target)
                if isinstance(t, ast.Subscript | ast.Attribute)
            }
            return {root for root in roots if root is not None}
        case ast.AugAssign(target=target):
            root = _root(target)
            return set() if root is None else {root}
        case ast.Call(func=ast.Attribute(value=value, attr=attr)) if attr.endswith("_") and not attr.endswith(
            "__"
        ):
            root = _root(value)
            return set() if root is None else {root}
        case ast.keyword(arg="out", value=value):
            return {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
        case ast.Lambda(args=arguments):
            return {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
        case ast.NamedExpr(target=ast.Name(id=name)):
            return {name}
    return stored_names(node) if isinstance(node, _COMPREHENSIONS) else set()


def _root(node: ast.expr) -> str | None:
    """`x` for `x[0].weight` and for `x.view(-1)`."""
    while True:
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Call(func=inner):
                node = inner
            case _:
                return None


def imported_aliases(nodes: Iterable[ast.stmt]) -> dict[str, str]:
    """What imported names stand for: `{"F": "torch.nn.functional", "torch": "torch"}`."""
    aliases: dict[str, str] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                root = alias.name.split(".")[0]
                aliases[alias.asname or root] = alias.name if alias.asname else root
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                aliases[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return aliases


class Renaming(ast.NodeTransformer):
    """Every name that `names` holds, as that."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = dict(names)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._names.get(node.id, node.id), node.ctx)


class SubstituteNames(ast.NodeTransformer):
    """Every name that `values` holds, as that expression."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._values.get(node.id, node)
