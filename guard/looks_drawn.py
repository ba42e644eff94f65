"""Whether a tensor that a definition's own generator made is nothing but normal random numbers."""

from collections.abc import Sequence
from typing import Any

import torch

from guard.tensor_figures import first_values, has_no_sign
from tasks.task import Task
from tasks.workload import CustomInput, RandomInput

_LEAST, _MOST_BYTES = 512, 4 << 30
_KURTOSIS = (2.2, 6.0)
"""Normal numbers have 3, also when rounded to eight bits; sines have 1.5, uniform ones 1.8, one-hot rows many."""


def movable(task: Task, workload: int, inputs: Sequence[Any]) -> list[bool]:
    """Of each input, whether its elements may change places: those of the definition's own generator too, where they
    are nothing but normal numbers, or a memo under one of them would never be asked about another."""
    sources = [task.workloads[workload].inputs.get(name) for name in task.definition.inputs]
    return [
        isinstance(source, RandomInput) or (isinstance(source, CustomInput) and looks_drawn(value))
        for source, value in zip(sources, inputs, strict=True)
    ]


def looks_drawn(value: Any) -> bool:
    """By the moments of its first elements: no sign, tails as normal numbers have them, and no half that repeats.

    Scales, tables of angles, masks and weights that add up to one are not: what they mean hangs on where they stand.
    Nor are the largest tensors, for a copy of which there may be no room.
    """
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or not value.is_contiguous():
        return False
    size = value.numel() * value.element_size()
    if value.numel() < _LEAST or size > _MOST_BYTES or value.dtype == torch.float4_e2m1fn_x2:
        return False
    some = first_values(value)
    if not has_no_sign(some):
        return False
    kurtosis = float((((some - some.mean()) / some.std()) ** 4).mean())
    return _KURTOSIS[0] <= kurtosis <= _KURTOSIS[1] and not _repeats(value, some)


def _repeats(value: torch.Tensor, some: torch.Tensor) -> bool:
    """Whether the halves of its rows are alike, or rows are, as in tables that were laid out twice."""
    width = value.shape[-1]
    rows = some[: some.numel() // width * width].view(-1, width)
    if len(rows) == 0:
        return False
    half = width // 2
    return bool(half and torch.equal(rows[:, :half], rows[:, half : 2 * half])) or bool(
        len(rows) > 1 and torch.equal(rows[0], rows[1])
    )
