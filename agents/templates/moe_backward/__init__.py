"""The backward pass of a layer of SwiGLU experts: sorted slots, products over ragged experts."""

from agents.templates.moe_backward.family import MoeBackwardFamily
from agents.templates.moe_backward.form import MoeBackward

__all__ = ["MoeBackward", "MoeBackwardFamily"]
