"""Outputs are poisoned before each call; whatever still holds the poison was never written."""

import torch

from guard.checks.base import CallRecord, Finding
from guard.verdict import ReasonCode

_FEW = 1e-4
_PIECE = 1 << 26
"""Elements looked at in one go: counting widens each to eight bytes, beside outputs that may fill the card."""


def unwritten(record: CallRecord) -> Finding | None:
    """More than one element in ten thousand still poisoned, where the poison is not by chance the right value."""
    for name, output, expected, poison in zip(
        record.names, record.outputs, record.expected, record.poison, strict=True
    ):
        if poison is None or output.numel() == 0 or expected.dtype != output.dtype:
            continue
        left = _untouched(output.view(poison.dtype), expected.contiguous().view(poison.dtype), poison)
        if left > _FEW * output.numel():
            share = left / output.numel()
            return Finding(
                code=ReasonCode.UNWRITTEN, message=f"output {name!r}: {share:.2%} of it was never written"
            )
    return None


def _untouched(output: torch.Tensor, expected: torch.Tensor, poison: torch.Tensor) -> int:
    """Elements that hold the poison and should not."""
    pieces = zip(output.reshape(-1).split(_PIECE), expected.reshape(-1).split(_PIECE), strict=True)
    return sum(int(((out == poison) & (want != poison)).sum()) for out, want in pieces)
