"""What a gated activation computes, and where its reference rounds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Gated:
    """`activation(gate) * up`, fp32 inside."""

    activation: str
    """One of `ACTIVATIONS`."""
    gate: str
    up: str
    """Inputs of the definition; the same name when each is a half of its rows."""
    gate_is_first: bool
    """Of the two halves; True where they are two inputs."""
    activated_rounded_to: str | None
    """Element type that the activated gate is rounded to before the product."""
    inputs: tuple[str, ...]
    """All inputs of the definition, in calling order."""
    output: str

    @property
    def halves(self) -> bool:
        return self.gate == self.up


ACTIVATIONS = {
    "silu": "x / (1.0 + tl.exp(-x))",
    "gelu": "0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))",
    "gelu_tanh": "x / (1.0 + tl.exp(-1.5957691216057308 * (x + 0.044715 * x * x * x)))",
    "sigmoid": "1.0 / (1.0 + tl.exp(-x))",
    "relu": "tl.maximum(x, 0.0)",
    "quick_gelu": "x / (1.0 + tl.exp(-1.702 * x))",
}
"""In Triton, of an fp32 `x`; the tanh is a sigmoid of twice its argument."""
