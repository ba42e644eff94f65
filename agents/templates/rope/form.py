"""What a rotary embedding computes, and where its reference rounds."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Rope:
    """Pairs (a, b) of a head become (a cos - b sin, b cos + a sin); arithmetic is fp32."""

    rotated: tuple[tuple[str, str], ...]
    """Input and output of each tensor that is rotated; all have the same element type."""
    heads_first: bool
    """[batch, heads, tokens, width] rather than [batch, tokens, heads, width] or [tokens, heads, width]."""
    interleaved: bool
    """Pairs stand side by side, not half a head apart."""
    inverse: bool
    """The sine is taken negative: the backward pass."""
    angles: Literal["table", "full", "half"]
    """One table of cosines then sines a row; or two tensors, of a whole head's width or half of it."""
    cos: str
    sin: str
    """The same name for a table."""
    positions: str | None
    """Row of the angles for each token; None: rows follow the tokens."""
    angles_a_token: bool
    """Angles (or positions) for every token of every sequence, not one list for all sequences."""
    products_rounded_to: str | None
    """Element type that each product is rounded to before the sum."""
    width: int
    """Of a head."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    @property
    def half(self) -> int:
        return self.width // 2
