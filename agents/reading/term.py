"""Terms: expressions in one spelling, so that `x.float()`, `x.to(torch.float32)` and `x.type(torch.float)` agree."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Constant = int | float | bool | str | None


@dataclass(frozen=True)
class Term:
    """An operation with its arguments in the order of its signature; arguments left out are absent terms.

    `op` is `name`, `const`, `tuple`, `absent`, `attribute` or an operation of `agents.reading.operations`.
    """

    op: str
    args: tuple["Term", ...] = ()
    value: Constant = None
    """Of a name its text, of a constant its value, of an attribute its name."""
    origin: ast.expr | None = field(default=None, compare=False, repr=False)
    """The expression it was read from."""

    def __str__(self) -> str:
        if self.op in ("name", "const"):
            return str(self.value)
        inner = ", ".join(str(arg) for arg in self.args if arg.op != "absent")
        return f"{self.op}{'.' + str(self.value) if self.value is not None else ''}({inner})"

    @property
    def is_absent(self) -> bool:
        return self.op == "absent"

    def walk(self) -> Iterator["Term"]:
        yield self
        for arg in self.args:
            yield from arg.walk()


ABSENT = Term("absent")


def name(text: str) -> Term:
    return Term("name", value=text, origin=ast.Name(text, ast.Load()))


def const(value: Constant) -> Term:
    return Term("const", value=value, origin=ast.Constant(value))


def substitute(term: Term, values: Mapping[str, Term]) -> Term:
    """`term` with every name that `values` holds replaced."""
    if term.op == "name" and isinstance(term.value, str):
        return values.get(term.value, term)
    args = tuple(substitute(arg, values) for arg in term.args)
    return term if args == term.args else Term(term.op, args, term.value)
