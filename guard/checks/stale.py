"""An answer to the question before this one, where the two differ too little for any tolerance to show it."""

import math

import torch

from guard.checks.base import CallRecord, Finding
from guard.verdict import ReasonCode

_SHARE = 0.5
"""An honest error has nothing to do with the answer before: it leaves an output no nearer to that than to its own."""
_FEW, _MANY_STEPS = 8, 16
"""Errors of so few elements can all lie to one side: a loss that is more exact than the reference's own sum."""


def stale(record: CallRecord) -> Finding | None:
    """Where the expected answers differ, an output that is far nearer to the one before."""
    pairs = zip(record.names, record.outputs, record.expected, record.before or record.expected, strict=True)
    for position, (name, output, expected, before) in enumerate(pairs):
        if before is expected or before.shape != output.shape or not output.is_floating_point():
            continue
        differ = expected != before
        own, other = _distances(differ, output, expected, before)
        if other < _SHARE * own and own > _rounding(record, position, int(differ.sum())):
            said = f"output {name!r} answers the call before this one, whose inputs were nearly the same"
            return Finding(code=ReasonCode.NUMERICAL, message=said)
    return None


def _distances(
    differ: torch.Tensor, output: torch.Tensor, expected: torch.Tensor, before: torch.Tensor
) -> tuple[float, float]:
    """Of the output to each of the two, over the elements in which these differ and all three are finite."""
    out, own, other = (t[differ].to(torch.float32) for t in (output, expected, before))
    finite = torch.isfinite(out) & torch.isfinite(own) & torch.isfinite(other)
    return float((out - own)[finite].norm()), float((out - other)[finite].norm())


def _rounding(record: CallRecord, position: int, count: int) -> float:
    """The distance of so many elements that may be rounding alone: a sum in another order can hit the answer before."""
    expected = record.expected[position]
    step = torch.finfo(expected.dtype).eps * float(expected.to(torch.float32).abs().mean())
    one = max(step, record.honest[position] if record.honest is not None else 0.0)
    return (_MANY_STEPS if count < _FEW else 2) * one * math.sqrt(count)
