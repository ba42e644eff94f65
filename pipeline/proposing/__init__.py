"""Proposers: agents as the search holds them, in its own process or in one of their own."""

from pipeline.proposing.base import Asked, Proposer, Ticket
from pipeline.proposing.inside import Inside

__all__ = ["Asked", "Inside", "Proposer", "Ticket"]
