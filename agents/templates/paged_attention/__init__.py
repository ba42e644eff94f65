"""Attention over keys and values that lie in pages, or one sequence after another: what prefill and decode share."""

from agents.templates.paged_attention.form import PagedAttention
from agents.templates.paged_attention.recognise import recognise

__all__ = ["PagedAttention", "recognise"]
