"""The seam of rewriting rules: find a computation, write it as the library call that does the same."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from agents.reading.pattern import Found
from agents.reading.reading import Reading
from agents.reading.term import Term

Consequence = Literal["exact", "reassociated", "lower-precision"]
"""What happens to the numbers: the same roundings; the same precision in another order or with fewer roundings;
arithmetic or intermediate results in fewer bits."""


class Writer(Protocol):
    """Gives the text by which a matched value can be spoken of where the rewritten expression stands."""

    def text(self, term: Term) -> str:
        """Its expression, in parentheses where it is no plain name or number."""
        ...

    def name(self, term: Term) -> str:
        """A name for it, assigned just before when it has none; for values that are mentioned twice."""
        ...

    def shared(self, source: str, wish: str) -> str:
        """A name for the value of `source`, assigned once for all rewritten places that ask for the same."""
        ...


@dataclass(frozen=True)
class Rule:
    name: str
    """A noun phrase for the strategy: `scaled dot-product attention`."""
    consequence: Consequence
    match: Callable[[Term, Reading], Found | None]
    """What a rewriting needs to know of `term`, or None when the rule does not apply to it."""
    rewrite: Callable[[Found, Reading, Writer], str]
    """The expression to stand in the place of the matched one, with the same shape and element type.

    It may speak of `torch` in full: `torch.nn.functional.silu`.
    """
    is_gamble: bool = False
    """It may as well be slower, by what it costs besides; so it is not part of the first thing proposed."""
