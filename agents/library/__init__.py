"""The library agent: what the reference spells out, said as one call of PyTorch."""

from agents.library.agent import LibraryAgent

__all__ = ["LibraryAgent"]
