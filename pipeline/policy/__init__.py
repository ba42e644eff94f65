"""Policies: which agent is asked next, and for what; add one by a file and a line here."""

from pipeline.policy.base import Option, Policy
from pipeline.policy.rounds import Rounds

__all__ = ["Option", "Policy", "Rounds"]
