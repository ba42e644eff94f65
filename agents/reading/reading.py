"""A reading: one reference as straight-line code, in which a name can be looked through to what it stands for."""

import ast
from collections.abc import Iterator

from agents.reading.canonical import canonical
from agents.reading.infer import infer
from agents.reading.kinds import Kind, Known, Scalar, kind_of_spec
from agents.reading.straighten import Straight, straighten
from agents.reading.term import Term, const
from tasks.definition import Definition


class Reading:
    """Raises `NotStraight` for a reference that is no list of steps."""

    def __init__(self, definition: Definition, straight: Straight | None = None) -> None:
        self.definition = definition
        self.straight = straight or straighten(definition.reference)
        self.inputs: dict[str, Known] = {
            name: kind_of_spec(definition, spec) for name, spec in definition.inputs.items()
        }
        self._values: dict[str, Term] = dict(self._module_constants())
        self._numbers: dict[tuple[object, ...], int] = {}
        self._name_numbers: dict[str | None, int] = {}
        self._kinds: dict[int, Known] = {}
        for statement in self.straight.statements:
            self.learn(statement)

    def term(self, node: ast.expr) -> Term:
        return canonical(node, self.straight.aliases)

    def learn(self, statement: ast.stmt) -> None:
        """Remember what the names that `statement` assigns stand for, when that can be known."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._keep(name, self.term(value), value)
            case ast.Assign(targets=[ast.Tuple(elts=elements)], value=value):
                whole = self.term(value)
                for position, element in enumerate(elements):
                    if isinstance(element, ast.Name):
                        part = Term("index", (whole, const(position)))
                        self._keep(element.id, part, value)

    def look_through(self, term: Term) -> Term:
        """What a name stands for, followed to the end; other terms as they are."""
        while term.op == "name" and term.value in self._values:
            term = self._values[str(term.value)]
        return term

    def same(self, first: Term, second: Term) -> bool:
        return self.number(first) == self.number(second)

    def number(self, term: Term) -> int:
        """Equal for terms that compute the same from the inputs by the same operations."""
        name = str(term.value) if term.op == "name" else None
        if name in self._name_numbers:
            return self._name_numbers[name]
        number = self._number(self.look_through(term))
        if name is not None:
            self._name_numbers[name] = number
        return number

    def _number(self, term: Term) -> int:
        key = (term.op, type(term.value), term.value, *(self.number(arg) for arg in term.args))
        return self._numbers.setdefault(key, len(self._numbers))

    def kind(self, term: Term) -> Known:
        """What is known of the value: its element type and sizes."""
        number = self.number(term)
        if number not in self._kinds:
            self._kinds[number] = infer(self, self.look_through(term))
        return self._kinds[number]

    def tensor(self, term: Term) -> Kind:
        """As `kind`, with nothing known where it is no tensor."""
        kind = self.kind(term)
        return kind if isinstance(kind, Kind) else Kind()

    def scalar(self, term: Term) -> int | float | str | None:
        """The value of a Python number, or the axis it is the size of, when that is known."""
        kind = self.kind(term)
        return kind.value if isinstance(kind, Scalar) else None

    @property
    def results(self) -> tuple[Term, ...]:
        """What `run` returns, in the order of the definition's outputs."""
        result = self.straight.result
        if isinstance(result, ast.Dict):
            by_name = {
                key.value: value for key, value in zip(result.keys, result.values, strict=True)
                if isinstance(key, ast.Constant)
            }  # fmt: skip
            return tuple(self.term(by_name[n]) for n in self.definition.outputs if n in by_name)
        whole = self.look_through(self.term(result))
        if whole.op == "tuple" and len(whole.args) == len(self.definition.outputs):
            return whole.args
        return (self.term(result),)

    def all_terms(self) -> Iterator[Term]:
        """Every expression of the code, in the order in which it is computed, outermost first."""
        for node in (*self.straight.statements, self.straight.result):
            for inner in ast.walk(node):
                if isinstance(inner, ast.expr):
                    yield self.term(inner)

    def _keep(self, name: str, value: Term, node: ast.expr) -> None:
        """Nothing is kept of values that change, or that two equal expressions do not share."""
        touched = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} | {name}
        if not touched & self.straight.pinned and not any(map(_differs_each_time, value.walk())):
            self._values[name] = value

    def _module_constants(self) -> Iterator[tuple[str, Term]]:
        """Names that the module assigns once, outside functions."""
        for node in self.straight.prelude:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if name not in self.inputs:
                    yield name, self.term(value)


def _differs_each_time(term: Term) -> bool:
    return term.op == "opaque" and any(word in str(term.value) for word in ("rand", "empty", "dropout"))
