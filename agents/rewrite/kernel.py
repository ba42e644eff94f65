"""A kernel as data: what it works out, what it loads, and the lines of its body."""

from dataclasses import dataclass, field

from agents.rewrite.program import Vector


class MustBeStored(Exception):
    """`name` cannot be worked out inside this kernel."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


@dataclass
class Kernel:
    """What the emitted source needs: the lines of the body and the arguments in the order of the signature."""

    domain: tuple[Vector, ...]
    """The last size is that of a row; the others together count the rows."""
    has_rows: bool
    """Whether a tile must hold whole rows."""
    roots: list[str]
    lines: list[str] = field(default_factory=list)
    tensors: dict[str, str] = field(default_factory=dict)
    """Parameter by the name of the value that is loaded."""
    numbers: dict[str, tuple[int | float, ...]] = field(default_factory=dict)
    """Sizes that differ from workload to workload, by parameter."""
    strides: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Parameter by (value, dimension), of values whose layout is not known."""

    def size(self, values: tuple[int | float, ...]) -> str:
        """A number, or the parameter that holds it where it differs from workload to workload."""
        if len(set(values)) == 1:
            return str(values[0])
        known = next((name for name, held in self.numbers.items() if held == values), None)
        if known is None:
            known = f"n{len(self.numbers)}"
            self.numbers[known] = values
        return known
