"""What a pre-norm decoder layer computes; names are inputs of the definition."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Attention:
    """`stream + mix @ attention(rope(norm(q)), rope(norm(k)), v)`."""

    gain: str
    query: str
    key: str
    value: str
    mix: str
    width: int
    """Of a head."""
    query_gain: str | None
    key_gain: str | None
    """Of norms of each head, before the rotation."""
    frequencies: str | None
    """Angle of a pair a position; None where they follow from the base."""
    base: float | None
    positions: str | None
    """Of the tokens; None: they count from nought."""
    mask: str | None
    """Added to the scores; None: later keys are hidden."""
    scale: str | None
    """None: one over the root of the width."""


@dataclass(frozen=True)
class Decoder:
    stream: str
    attention: Attention | None
    """None for the MLP half alone."""
    gain: str
    gate: str
    up: str
    down: str
    eps: float | str
    """A number or an input."""
    element: str
    inputs: tuple[str, ...]
    output: str
