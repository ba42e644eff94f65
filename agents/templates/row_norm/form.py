"""What a row-wise norm computes, and where its reference rounds."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class RowNorm:
    """Arithmetic is fp32; every field that ends in `rounded_to` is a rounding that the reference makes too."""

    kind: Literal["rms", "layer"]
    inputs: tuple[str, ...]
    """All inputs of the definition, in calling order."""
    x: str
    added: str | None
    """A second tensor, added to `x` before normalising."""
    sum_rounded_to: str | None
    """Element type that the sum is kept in, when that is narrower than fp32."""
    weight: str | None
    weight_offset: float
    """1.0 where the gain is stored as its difference from one."""
    bias: str | None
    hat_rounded_to: str | None
    """Element type that the normalised row is rounded to before the gain."""
    eps: float | str
    """A number, or the input that holds it."""
    hidden: int | None
    """Length of a row; None when it differs from workload to workload."""
    longest: int
    """Longest row of any workload."""
    shortest: int
    bytes_read: int
    """For each column of a row: the element sizes of `x` and `added`, in all."""
    outputs: tuple[str, ...]
    """All outputs of the definition, in calling order."""
    normed_output: str
    sum_output: str | None
    """The output that keeps the sum."""
