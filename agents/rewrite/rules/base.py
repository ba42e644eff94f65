"""The seam of rules over a traced program: several operations in, a library call or a helper in their place."""

from collections.abc import Callable
from dataclasses import dataclass

from agents.library.rules import Consequence
from agents.rewrite.program import Program


@dataclass(frozen=True)
class Rule:
    name: str
    """A noun phrase for the strategy: `fused_attention`."""
    consequence: Consequence
    apply: Callable[[Program], Program | None]
    """The program with every match replaced; None when there is none.

    Results keep their shapes and element types, and what nothing reads any more is left for the clean-up.
    """


def at_every(program: Program, at: Callable[[Program, str], Program | None]) -> Program | None:
    """The program after `at` was tried at each of its operations that is still there; None where it never matched."""
    found = None
    for name in program.ops:
        current = found or program
        after = at(current, name) if name in current.ops else None
        found = after or found
    return found
