"""A rule applied wherever it matches, and what it made superfluous taken out."""

import ast
import copy
from dataclasses import replace
from typing import Any

from agents.library.rules.base import Rule
from agents.reading.names import pinned_names, stored_names
from agents.reading.reading import Reading
from agents.reading.straighten import Straight
from agents.reading.term import Term


def rewritten(reading: Reading, rule: Rule) -> Reading | None:
    """The code after `rule`, read again; None when it matched nowhere."""
    straight = replace(reading.straight, taken=set(reading.straight.taken))
    rewriter = _Rewriter(reading, rule, straight)
    statements: list[ast.stmt] = []
    for statement in straight.statements:
        if isinstance(statement, ast.Assign) and not _is_pinned(statement, straight):
            value = rewriter.expression(statement.value)
            statements.extend(rewriter.taken_out())
            statement = ast.Assign(statement.targets, value, lineno=0)
        statements.append(statement)
    result = rewriter.expression(straight.result)
    statements.extend(rewriter.taken_out())
    if not rewriter.matched:
        return None
    alive = without_dead_code(statements, result)
    return Reading(reading.definition, replace(straight, statements=alive, result=result))


def _is_pinned(statement: ast.Assign, straight: Straight) -> bool:
    return bool({n.id for n in ast.walk(statement) if isinstance(n, ast.Name)} & straight.pinned)


class _Rewriter(ast.NodeTransformer):
    """From the outside in, so that the largest match is taken; it is also the rules' `Writer`."""

    def __init__(self, reading: Reading, rule: Rule, straight: Straight) -> None:
        self._reading, self._rule, self._straight = reading, rule, straight
        self._before: list[ast.stmt] = []
        self._shared: dict[str, str] = {}
        self.matched = 0

    def expression(self, node: ast.expr) -> ast.expr:
        """`node` with every match in it rewritten."""
        rewritten_node: ast.expr = self.visit(copy.deepcopy(node))
        return rewritten_node

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            return node
        if isinstance(node, ast.Call | ast.BinOp):
            found = self._rule.match(self._reading.term(node), self._reading)
            if found is not None:
                self.matched += 1
                return _parsed(self._rule.rewrite(found, self._reading, self))
        return self.generic_visit(node)

    def taken_out(self) -> list[ast.stmt]:
        """Assignments that have to stand before the statement visited last."""
        before, self._before = self._before, []
        return before

    def text(self, term: Term) -> str:
        if term.op in ("name", "const"):
            return repr(term.value) if term.op == "const" else str(term.value)
        if term.origin is None:
            raise ValueError(f"{term} has no text of its own")
        return f"({ast.unparse(term.origin)})"

    def name(self, term: Term) -> str:
        return str(term.value) if term.op == "name" else self._assigned(self.text(term), "operand")

    def shared(self, source: str, wish: str) -> str:
        if source not in self._shared:
            self._shared[source] = self._assigned(source, wish)
        return self._shared[source]

    def _assigned(self, source: str, wish: str) -> str:
        name = self._straight.fresh(wish)
        self._before.append(ast.Assign([ast.Name(name, ast.Store())], _parsed(source), lineno=0))
        return name


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def without_dead_code(statements: list[ast.stmt], result: ast.expr) -> list[ast.stmt]:
    """`statements` without the assignments that nothing later reads."""
    needed = _read_names(result)
    kept: list[ast.stmt] = []
    for statement in reversed(statements):
        if _only_assigns(statement) and not stored_names(statement) & needed:
            continue
        needed |= _read_names(statement)
        kept.append(statement)
    return kept[::-1]


def _only_assigns(statement: ast.stmt) -> bool:
    """An assignment to plain names, of an expression that changes nothing."""
    if not isinstance(statement, ast.Assign) or not stored_names(statement):
        return False
    holder = ast.FunctionDef("held", ast.arguments([], [], None, [], [], None, []), [statement], [], lineno=0)
    return not pinned_names(holder) & _read_names(statement)


def _read_names(node: ast.AST) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
