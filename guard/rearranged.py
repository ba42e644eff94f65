"""Inputs that look like the ones before to whoever looks only here and there."""

from collections.abc import Sequence
from typing import Any

import torch

from guard.tensor_figures import all_finite

_ONE_IN = {"near": 64, "swap": None}
"""Share of the elements that are moved; None: two of them."""
_INTEGER = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def rearranged(inputs: Sequence[Any], free: Sequence[bool], seed: int, kind: str = "near") -> list[Any]:
    """The `free` inputs with elements moved among each other's places: `near` one in 64 of each, `swap` two of one.

    The first changes every row of an answer, the second is hit by few samples. Sums, extremes and nearly every single
    element stay what they were. Only finite floating-point tensors are touched: indices and masks mean something by
    their order.
    """
    chosen = [
        k for k, (value, may) in enumerate(zip(inputs, free, strict=True)) if may and _has_no_order(value)
    ]
    if kind == "swap" and chosen:
        chosen = [chosen[seed % len(chosen)]]
    return [
        _rearranged(value, seed + k, _ONE_IN[kind]) if k in chosen else value
        for k, value in enumerate(inputs)
    ]


def _rearranged(value: torch.Tensor, seed: int, one_in: int | None) -> torch.Tensor:
    dice = torch.Generator().manual_seed(seed)
    count = max(2, value.numel() // one_in) if one_in else 2
    drawn = torch.randint(0, value.numel(), (count,), generator=dice).unique()
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
    return value.is_contiguous() and all_finite((value,))
