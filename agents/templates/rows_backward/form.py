"""What the backward pass of a row-wise norm computes."""

from dataclasses import dataclass


@dataclass(frozen=True)
class RowsBackward:
    """Of `y = x * rsqrt(mean(x^2) + eps) * (offset + weight)`, given the gradient of y; arithmetic is fp32."""

    x: str
    upstream: str
    weight: str | None
    weight_offset: float
    inverse_rms: str | None
    """The input that holds `rsqrt(mean(x^2) + eps)`; None: it is computed again."""
    eps: float | str | None
    """A number or an input; None where the inverse is given."""
    to_x: str | None
    to_weight: str | None
    """Outputs."""
    longest: int
    """Row of any workload."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
