"""Outputs are poisoned before each call; whatever still holds the poison was never written."""

from guard.checks.base import CallRecord, Finding
from guard.verdict import ReasonCode

_FEW = 1e-4


def unwritten(record: CallRecord) -> Finding | None:
    """More than one element in ten thousand still poisoned, where the poison is not by chance the right value."""
    for name, output, expected, poison in zip(
        record.names, record.outputs, record.expected, record.poison, strict=True
    ):
        if poison is None or output.numel() == 0 or expected.dtype != output.dtype:
            continue
        untouched = (output.view(poison.dtype) == poison) & (
            expected.contiguous().view(poison.dtype) != poison
        )
        left = int(untouched.sum())
        if left > _FEW * output.numel():
            share = left / output.numel()
            return Finding(
                code=ReasonCode.UNWRITTEN, message=f"output {name!r}: {share:.2%} of it was never written"
            )
    return None
