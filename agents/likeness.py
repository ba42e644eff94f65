"""Which candidates are the same but for their words: comments, spacing, names, the order of imports."""

import ast
import builtins
import re
from functools import lru_cache

from tasks.candidate import Candidate
from tasks.value import digest_of

_BUILTINS = frozenset(dir(builtins))
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def likeness(candidate: Candidate) -> str:
    """Equal for near duplicates. Numbers, strings and structure all count: only words do not."""
    sources = {source.path: _essence(source.path, source.content) for source in candidate.solution.sources}
    spec = candidate.solution.spec.model_dump(mode="json")
    return digest_of({"spec": spec, "sources": sources, "definition": candidate.definition_digest})


@lru_cache(maxsize=64)
def _essence(path: str, content: str) -> str:
    if path.endswith(".py"):
        try:
            return _python_essence(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return content
    return " ".join(_COMMENT.sub(" ", content).split())


def _python_essence(content: str) -> str:
    tree = ast.parse(content)
    imports = sorted(ast.unparse(node) for node in tree.body if isinstance(node, _IMPORTS))
    tree.body = [node for node in tree.body if not isinstance(node, _IMPORTS)]
    return "\n".join([*imports, ast.dump(_Renamer().visit(tree), annotate_fields=False)])


_IMPORTS = (ast.Import, ast.ImportFrom)


class _Renamer(ast.NodeTransformer):
    """Local names by the order of their first appearance within their function; docstrings left out.

    Names of functions, classes, attributes, keywords and modules stay: they are seen from outside.
    """

    def __init__(self) -> None:
        self._names: list[dict[str, str]] = []

    def visit_Module(self, node: ast.Module) -> ast.AST:
        node.body = _without_docstring(node.body)
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = _without_docstring(node.body)
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.body = _without_docstring(node.body)
        # a decorated function may be called by the names of its arguments, and any may be called by keyword
        self._names.append(dict.fromkeys(_assigned(node), ""))
        try:
            return self.generic_visit(node)
        finally:
            self._names.pop()

    def visit_Name(self, node: ast.Name) -> ast.AST:
        for depth, names in reversed(list(enumerate(self._names))):
            if node.id in names:
                names[node.id] = names[node.id] or f"{depth}.{sum(1 for name in names.values() if name)}"
                return ast.Name(id=names[node.id], ctx=node.ctx)
        return node


def _assigned(function: ast.FunctionDef) -> list[str]:
    """Names that the function itself assigns, in order; its arguments keep theirs."""
    arguments = {node.arg for node in ast.walk(function.args) if isinstance(node, ast.arg)}
    shared = {
        name
        for node in ast.walk(function)
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }
    kept = arguments | shared | _BUILTINS
    stored = (
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
    return [name for name in dict.fromkeys(stored) if name not in kept]


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
        return body[1:] or [ast.Pass()]
    return body
