"""What an fp8 expert layer computes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MoeFp8:
    """Names of inputs, and how experts are chosen."""

    logits: str
    correction: str
    tokens: str
    token_scale: str
    """A scale for each `block` elements of a token."""
    scale_is_transposed: bool
    """[blocks, tokens] rather than [tokens, blocks]."""
    into: str
    into_scale: str
    """[experts, 2 x inner, hidden], and a scale for each square of `block` x `block`."""
    out_of: str
    out_of_scale: str
    """[experts, hidden, inner]."""
    first_local: str
    routed_scale: str
    groups: int
    groups_chosen: int
    slots: int
    """Experts of a token."""
    gate_is_first: bool
    """Of the two halves of `into`."""
    block: int
    hidden: int
    inner: int
    inputs: tuple[str, ...]
    output: str
