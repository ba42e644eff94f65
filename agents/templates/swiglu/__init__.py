"""Gated activations: a half of a row, or a tensor, activated and multiplied with the other."""

from agents.templates.swiglu.family import GatedFamily
from agents.templates.swiglu.form import Gated

__all__ = ["Gated", "GatedFamily"]
