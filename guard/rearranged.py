"""Inputs that look like the ones before to whoever looks only here and there."""

from collections.abc import Sequence
from typing import Any

import torch

_ONE_IN = 64
_INTEGER = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def rearranged(inputs: Sequence[Any], free: Sequence[bool], seed: int) -> list[Any]:
    """The `free` inputs with one element in 64 (two at least) moved among each other's places.

    Sums, extremes and nearly every single element stay what they were. Only finite floating-point tensors are
    touched: indices and masks mean something by their order.
    """
    return [
        _rearranged(value, seed + position) if may and _has_no_order(value) else value
        for position, (value, may) in enumerate(zip(inputs, free, strict=True))
    ]


def _rearranged(value: torch.Tensor, seed: int) -> torch.Tensor:
    dice = torch.Generator().manual_seed(seed)
    drawn = torch.randint(0, value.numel(), (max(2, value.numel() // _ONE_IN),), generator=dice).unique()
    places = drawn[torch.randperm(drawn.numel(), generator=dice)]
    if places.numel() < 2:
        places = torch.tensor([0, value.numel() - 1])
    places = places.to(value.device)
    # as integers, since narrow types can hardly be indexed
    flat = value.clone().view(_INTEGER[value.element_size()]).view(-1)
    flat[places] = flat[places.roll(1)]
    return flat.view(value.dtype).view(value.shape)


def _has_no_order(value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.numel() < 2:
        return False
    if value.dtype == torch.float4_e2m1fn_x2:
        return value.is_contiguous()  # it knows neither infinity nor conversion
    return value.is_contiguous() and bool(torch.isfinite(value.to(torch.float32)).all())
