"""Answers for which next to nothing was computed."""

import math
from collections.abc import Sequence
from typing import Any

import torch

from guard.audit.base import Alternative, Answer, Tensors

_TAIL = 0.02
"""Twice what may be left out: a few elements of any tail are near enough to zero by themselves."""


def _zeros(inputs: Sequence[Any], expected: Tensors, answer: Answer) -> Tensors | None:
    return tuple(torch.zeros_like(e) for e in expected)


def _mean(inputs: Sequence[Any], expected: Tensors, answer: Answer) -> Tensors | None:
    if not any(e.is_floating_point() and e.numel() for e in expected):
        return None
    return tuple(_constant(e) for e in expected)


def _constant(expected: torch.Tensor) -> torch.Tensor:
    """The mean of the finite elements; an output of integers stays as it should be."""
    if not expected.is_floating_point() or expected.numel() == 0:
        return expected
    values = expected.to(torch.float32)
    finite = values[torch.isfinite(values)]
    mean = finite.mean() if finite.numel() else torch.zeros(())
    return torch.full_like(values, float(mean)).to(expected.dtype)


def _identity(inputs: Sequence[Any], expected: Tensors, answer: Answer) -> Tensors | None:
    """Each output is the first input of its shape; all must have one."""
    tensors = [i for i in inputs if isinstance(i, torch.Tensor)]
    found = [next((t for t in tensors if t.shape == e.shape and _converts(t, e)), None) for e in expected]
    if any(f is None for f in found):
        return None
    return tuple(f.to(e.dtype) for f, e in zip(found, expected, strict=True) if f is not None)


def _converts(given: torch.Tensor, wanted: torch.Tensor) -> bool:
    return given.is_floating_point() and wanted.is_floating_point() and given.dtype.itemsize > 0.5


def _shuffled_rows(inputs: Sequence[Any], expected: Tensors, answer: Answer) -> Tensors | None:
    """Rows, that is all but the last axis taken together, each where the next one belongs."""
    rows = [e.reshape(-1, e.shape[-1]) if e.dim() else e.reshape(1, 1) for e in expected]
    if all(r.shape[0] < 2 for r in rows):
        return None
    return tuple(torch.roll(r, 1, 0).reshape(e.shape) for r, e in zip(rows, expected, strict=True))


def _unfinished_tail(inputs: Sequence[Any], expected: Tensors, answer: Answer) -> Tensors | None:
    return tuple(_without_tail(e) for e in expected)


def _without_tail(expected: torch.Tensor) -> torch.Tensor:
    flat = expected.clone().reshape(-1)
    flat[flat.numel() - math.ceil(flat.numel() * _TAIL) :] = 0
    return flat.reshape(expected.shape)


ZEROS = Alternative("zeros", "outputs of zeros", _zeros)
MEAN = Alternative("mean", "each output filled with its own mean", _mean)
IDENTITY = Alternative("identity", "an input of the output's shape handed back", _identity)
SHUFFLED_ROWS = Alternative("shuffled-rows", "every row where the next one belongs", _shuffled_rows)
UNFINISHED_TAIL = Alternative(
    "unfinished-tail", "the last 2 % of the elements left at zero", _unfinished_tail
)
