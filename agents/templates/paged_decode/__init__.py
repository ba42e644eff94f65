"""Attention of one query a sequence over a paged cache or ragged keys."""

from agents.templates.paged_decode.family import PagedDecodeFamily

__all__ = ["PagedDecodeFamily"]
