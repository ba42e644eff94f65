"""Causal attention of ragged queries over a paged cache or ragged keys."""

from agents.templates.paged_prefill.family import PagedPrefillFamily

__all__ = ["PagedPrefillFamily"]
