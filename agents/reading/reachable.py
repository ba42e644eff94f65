"""What of a module its entry function can reach: the rest, such as input generators, need not travel along."""

import ast

_LOOKS_NAMES_UP = frozenset({"globals", "locals", "vars", "eval", "exec", "__import__", "getattr"})
"""A module that calls one of these may reach a function without naming it: then nothing is dropped."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def reachable_source(source: str, entry: str) -> str:
    """`source` without the top-level functions and classes that `entry` cannot reach; comments are kept."""
    module = ast.parse(source)
    reached = _reached_names(module, entry)
    dropped = [node for node in _definitions(module) if node.name not in reached]
    if not dropped or _names(module) & _LOOKS_NAMES_UP:
        return source
    gone = {line for node in dropped for line in range(_first_line(node), (node.end_lineno or 0) + 1)}
    lines = [line for number, line in enumerate(source.splitlines(), 1) if number not in gone]
    return "\n".join(lines).strip("\n") + "\n"


def _reached_names(module: ast.Module, entry: str) -> set[str]:
    """Names that `entry`, or any top-level statement that is not a definition, mentions directly or not."""
    bodies: dict[str, set[str]] = {}
    for definition in _definitions(module):
        bodies.setdefault(definition.name, set()).update(_names(definition))
    waiting = [entry]
    for node in module.body:
        if not isinstance(node, Definition):
            waiting.extend(_names(node))
    reached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(bodies.get(name, ()))
    return reached


def _definitions(module: ast.Module) -> list[Definition]:
    return [node for node in module.body if isinstance(node, Definition)]


def _names(node: ast.AST) -> set[str]:
    """Every name in `node`, and every text that may be an annotation naming one."""
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return names | {
        n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    }


def _first_line(node: Definition) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
