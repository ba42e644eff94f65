"""Inputs must hold after the call what was written into them before."""

import torch

from guard.checks.base import CallRecord, Finding, same_bits
from guard.verdict import ReasonCode


def mutation(record: CallRecord) -> Finding | None:
    for position, (given, seen) in enumerate(zip(record.given, record.seen, strict=True)):
        if isinstance(given, torch.Tensor) and not same_bits(given, seen):
            return Finding(code=ReasonCode.MUTATION, message=f"input {position} was modified by the call")
    return None
