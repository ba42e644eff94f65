"""One ask that is under way."""

from dataclasses import dataclass

from pipeline.policy.base import Option
from pipeline.proposing.base import Ticket


@dataclass(frozen=True)
class Slot:
    option: Option
    ticket: Ticket
    told: int
    """How many verdicts had been told when it was asked."""
    number: int
    """Of its agent's asks, from 1."""
