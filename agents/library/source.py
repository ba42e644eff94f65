"""Straight-line code written out as a module again."""

import ast

from agents.reading.reachable import reachable_source
from agents.reading.straighten import Straight

_NO_GRAD = ast.parse("torch.no_grad()", mode="eval").body


def module_source(straight: Straight, opening: str) -> str:
    """A module whose `run` is `straight`; `opening` becomes its docstring."""
    run = ast.FunctionDef(
        name="run",
        args=_bare(straight.parameters),
        body=[*straight.statements, ast.Return(straight.result)],
        decorator_list=[_NO_GRAD],
        lineno=0,
    )
    prelude = [node for node in straight.prelude if not _is_text(node)]
    futures = [node for node in prelude if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
    rest = [node for node in prelude if node not in futures]
    imports = [] if straight.aliases.get("torch") == "torch" else ast.parse("import torch").body
    docstring = ast.Expr(ast.Constant(opening))
    module = ast.Module([docstring, *futures, *imports, *rest, run], [])
    return reachable_source(ast.unparse(ast.fix_missing_locations(module)) + "\n", "run")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _bare(arguments: ast.arguments) -> ast.arguments:
    """Without annotations, which may name what is not needed any more."""
    positional = [ast.arg(a.arg) for a in (*arguments.posonlyargs, *arguments.args)]
    return ast.arguments([], positional, None, [], [], None, list(arguments.defaults))
