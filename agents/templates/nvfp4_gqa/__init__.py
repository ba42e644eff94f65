"""Attention of new tokens over an NVFP4 cache, with their projection."""

from agents.templates.nvfp4_gqa.family import Nvfp4GqaFamily

__all__ = ["Nvfp4GqaFamily"]
