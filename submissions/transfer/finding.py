"""What is said of one thing that a candidate carries to another GPU."""

from typing import Literal

from tasks.value import Value

Ruling = Literal["ok", "caution", "refuse"]


class TransferFinding(Value):
    """`ok`: it holds there. `caution`: it is right there, and may be slow. `refuse`: it must not be packaged."""

    rule: str
    ruling: Ruling
    sentence: str


class CannotTransfer(ValueError):
    """The candidate is right where it was judged, and must not be packaged for the target."""
