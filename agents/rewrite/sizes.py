"""Sizes written in terms of the inputs' shapes, so that one source is right for every workload."""

from itertools import combinations, combinations_with_replacement
from math import prod

from agents.rewrite.program import Number, Vector
from tasks.definition import Definition
from tasks.workload import Workload


class NotExpressible(Exception):
    """A number differs from workload to workload, and no simple expression of the axes gives it."""


class Sizes:
    """Finds for numbers, one for each workload, the shortest text that gives them all.

    An axis is known by a name of its own, which `used` maps to the expression that the source opens with.
    """

    def __init__(self, definition: Definition, workloads: tuple[Workload, ...], taken: set[str]) -> None:
        self._texts: dict[tuple[int | float, ...], str] = {}
        self._openings: dict[str, str] = {}
        resolved = [definition.resolve_axes(workload.axes) for workload in workloads]
        axes: dict[str, Vector] = {}
        for axis, source in _where(definition).items():
            vector = tuple(int(values[axis]) for values in resolved)
            if len(set(vector)) > 1:
                name = axis if axis not in taken else f"{axis}_size"
                self._openings[name] = source
                axes[name] = vector
        self._learn(axes, {value for values in resolved for value in values.values()})
        for name, values in scalars(definition, workloads).items():
            if len(set(values)) > 1:
                self._texts.setdefault(values, name)

    def text(self, size: tuple[int | float, ...] | Number) -> str:
        """A Python expression; `NotExpressible` when none is known."""
        values = size.values if isinstance(size, Number) else size
        if len(set(values)) == 1:
            return repr(values[0])
        if values not in self._texts:
            raise NotExpressible(f"the numbers {values[:4]}... are no simple expression of the axes")
        return self._texts[values]

    def openings(self, source: str) -> list[str]:
        """Assignments of the axes that `source` speaks of."""
        return [
            f"{name} = {value}"
            for name, value in self._openings.items()
            if any(name == word for word in _words(source))
        ]

    def _learn(self, axes: dict[str, Vector], constants: set[int]) -> None:
        factors = sorted({2, 3, 4, 8, 16, 32, 64, 128, *constants} - {0, 1})
        products = {
            " * ".join(chosen): _times([axes[axis] for axis in chosen])
            for degree in (1, 2, 3, 4)
            for chosen in combinations_with_replacement(axes, degree)
        }
        for one, two in combinations(axes, 2):
            products |= _joined(one, two, axes)
        for text, vector in products.items():
            self._texts.setdefault(vector, text)
        for text, vector in products.items():
            for factor in factors:
                self._texts.setdefault(tuple(v * factor for v in vector), f"{text} * {factor}")
                if all(v % factor == 0 for v in vector):
                    self._texts.setdefault(tuple(v // factor for v in vector), f"{_held(text)} // {factor}")
            for more in (-2, -1, 1, 2):
                self._texts.setdefault(
                    tuple(v + more for v in vector), f"{text} {'-' if more < 0 else '+'} {abs(more)}"
                )
            self._texts.setdefault(tuple(1.0 / v for v in vector if v), f"1.0 / {_held(text)}")
            self._texts.setdefault(tuple(v**-0.5 for v in vector if v), f"{_held(text)} ** -0.5")


def _joined(one: str, two: str, axes: dict[str, Vector]) -> dict[str, Vector]:
    """The sum and differences of two axes, alone and times any axis."""
    first, second = axes[one], axes[two]
    made = {
        f"({one} + {two})": tuple(a + b for a, b in zip(first, second, strict=True)),
        f"({one} - {two})": tuple(a - b for a, b in zip(first, second, strict=True)),
        f"({two} - {one})": tuple(b - a for a, b in zip(first, second, strict=True)),
    }
    times = {
        f"{text} * {axis}": _times([vector, axes[axis]]) for text, vector in made.items() for axis in axes
    }
    return made | times


def scalars(definition: Definition, workloads: tuple[Workload, ...]) -> dict[str, tuple[int | float, ...]]:
    """The numbers among the inputs, workload by workload. Those that are drawn get values that nothing else has."""
    found: dict[str, tuple[int | float, ...]] = {}
    for place, (name, spec) in enumerate(definition.inputs.items()):
        if spec.shape is None:
            unlike = [1.0 + (place + 1) * 0.013721 + number * 0.107301 for number in range(len(workloads))]
            is_whole = spec.dtype.value.startswith(("int", "uint"))
            drawn = [int(value * 1000) for value in unlike] if is_whole else unlike
            found[name] = tuple(w.scalars.get(name, own) for w, own in zip(workloads, drawn, strict=True))
    return found


def _where(definition: Definition) -> dict[str, str]:
    """For every axis that an input's shape names, the expression that reads it."""
    found: dict[str, str] = {}
    for name, spec in definition.inputs.items():
        for place, axis in enumerate(spec.shape or ()):
            if axis in definition.axes:
                found.setdefault(axis, f"{name}.shape[{place}]")
    return found


def _times(factors: list[Vector]) -> Vector:
    return tuple(prod(sizes) for sizes in zip(*factors, strict=True))


def _held(text: str) -> str:
    return f"({text})" if " " in text else text


def _words(source: str) -> set[str]:
    return set("".join(c if c.isalnum() or c == "_" else " " for c in source).split())
