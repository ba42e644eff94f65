"""What a call is checked for, in the order of blame: the most telling reason first."""

from guard.checks.base import CallRecord, Check, Finding, same_bits
from guard.checks.mutation import mutation
from guard.checks.numerical import numerical
from guard.checks.precision import precision
from guard.checks.stale import stale
from guard.checks.unwritten import unwritten

CHECKS: dict[str, Check] = {
    "mutation": mutation,
    "unwritten": unwritten,
    "stale": stale,
    "numerical": numerical,
    "precision": precision,
}


def first_finding(record: CallRecord) -> Finding | None:
    """The first thing wrong with a call, or None."""
    for check in CHECKS.values():
        finding = check(record)
        if finding is not None:
            return finding
    return None


__all__ = ["CHECKS", "CallRecord", "Check", "Finding", "first_finding", "same_bits"]
