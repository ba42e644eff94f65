"""The seam of rules over a traced program: several operations in, a library call or a helper in their place."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from agents.rewrite.program import Program

Consequence = Literal["exact", "reassociated", "lower-precision"]
"""What happens to the numbers: the same roundings; the same precision in another order or with fewer roundings;
arithmetic or intermediate results in fewer bits."""


@dataclass(frozen=True)
class Rule:
    name: str
    """A noun phrase for the strategy: `traced_attention`."""
    consequence: Consequence
    apply: Callable[[Program], Program | None]
    """The program with every match replaced; None when there is none.

    Results keep their shapes and element types, and what nothing reads any more is left for the clean-up.
    """
