"""Rotary embeddings of one or two tensors of heads, by cosines and sines that are given."""

from agents.templates.rope.family import RopeFamily
from agents.templates.rope.form import Rope

__all__ = ["Rope", "RopeFamily"]
