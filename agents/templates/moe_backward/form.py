"""What the backward pass of an expert layer computes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class MoeBackward:
    """Gradients of `sum over slots of share * down[e] @ (silu(gate[e] @ x) * (up[e] @ x))`; names of inputs."""

    upstream: str
    tokens: str
    chosen: str
    """Expert of each slot, [tokens, slots]."""
    share: str
    """Routing weight of each slot, [tokens, slots]."""
    gate: str
    up: str
    down: str
    """[experts, inner, hidden] twice, and [experts, hidden, inner]."""
    to_tokens: str
    to_share: str
    to_gate: str
    to_up: str
    to_down: str
    element: str
    """Type of tokens and matrices."""
    slots: int
    """Of a token."""
    hidden: int | None
    inner: int | None
    """None where it differs from workload to workload."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
