"""Inputs of the same kind and another spread: what holds of a generator's normal numbers alone does not hold of them.

Who takes the statistics of the generator for those of a row, keeps a few large values and leaves out the rest, or
lays a grid of few steps over a whole row is right on normal numbers and wrong on these.
"""

from collections.abc import Sequence
from typing import Any

import torch

from guard.tensor_figures import first_values, has_no_sign

_ONE_IN = 64
_SMALL = 2.0**-5
_ROWS = (1.0, 0.5, 0.25)
_PIECE = 1 << 24


def rescale(inputs: Sequence[Any], free: Sequence[bool], seed: int) -> None:
    """In place: of each `free` matrix without a sign of its own one element in 64 stays, the others shrink by 32, and
    whole rows by 1, 2 or 4.

    By powers of two, and never up: floating-point arithmetic is as exact on these values as on the others, and no
    exponential grows. Vectors stay, which are weights and biases; so do narrow types, integers, and whatever has a
    sign or a structure of its own.
    """
    for position, (value, may) in enumerate(zip(inputs, free, strict=True)):
        if may and isinstance(value, torch.Tensor) and _is_signless_matrix(value):
            _rescale(value, torch.Generator(device=value.device).manual_seed(seed + position))


def grow(inputs: Sequence[Any], free: Sequence[bool]) -> None:
    """In place: each `free` matrix without a sign of its own times four, beyond the range that normal numbers reach."""
    for value, may in zip(inputs, free, strict=True):
        if may and isinstance(value, torch.Tensor) and _is_signless_matrix(value):
            value.mul_(4.0)


def _rescale(value: torch.Tensor, dice: torch.Generator) -> None:
    rows = value.view(-1, value.shape[-1])
    draw = torch.randint(0, len(_ROWS), (len(rows), 1), generator=dice, device=value.device)
    rows.mul_(torch.tensor(_ROWS, dtype=value.dtype, device=value.device)[draw])
    for piece in value.view(-1).split(_PIECE):
        lots = torch.randint(0, _ONE_IN, piece.shape, generator=dice, device=value.device, dtype=torch.uint8)
        piece.mul_(torch.where(lots == 0, 1.0, _SMALL).to(value.dtype))


def _is_signless_matrix(value: torch.Tensor) -> bool:
    if (
        not value.is_floating_point()
        or value.element_size() < 2
        or value.dim() < 2
        or not value.is_contiguous()
    ):
        return False
    some = first_values(value)
    return some.numel() >= _ONE_IN and has_no_sign(some) and some[:_ONE_IN].unique().numel() > _ONE_IN // 2
