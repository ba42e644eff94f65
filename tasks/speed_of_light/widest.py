"""What a reference is told when it asks for a value that a tensor without memory does not have.

The published bounds take each such choice at its widest: every row passes a test, every branch is entered.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch


class NotTold(Exception):
    """The reference needs a number from the data, such as the end of a sequence, to go on."""


def _all_places(tensor: torch.Tensor, *, as_tuple: bool = False) -> Any:
    rows, axes = math.prod(tensor.shape), tensor.dim()
    if as_tuple:
        return tuple(tensor.new_empty(rows, dtype=torch.int64) for _ in range(axes))
    return tensor.new_empty((rows, axes), dtype=torch.int64)


def _where(condition: torch.Tensor, *rest: Any, **kwargs: Any) -> Any:
    return NotImplemented if rest or kwargs else _all_places(condition, as_tuple=True)


def _index(tensor: torch.Tensor, key: Any) -> Any:
    if isinstance(key, torch.Tensor) and key.dtype == torch.bool:
        return tensor.new_empty((math.prod(key.shape), *tensor.shape[key.dim() :]))
    return NotImplemented


def _bincount(tensor: torch.Tensor, weights: Any = None, minlength: int = 0) -> torch.Tensor:
    return tensor.new_empty(max(minlength, 1), dtype=torch.int64 if weights is None else weights.dtype)


def _number(tensor: torch.Tensor) -> float:
    if not tensor.is_floating_point():
        raise NotTold(f"the reference reads a number out of a tensor of {tensor.dtype}")
    return 1.0


def _yes(tensor: torch.Tensor) -> bool:
    return True


_TOLD: dict[Any, Callable[..., Any]] = {
    torch.nonzero: _all_places,
    torch.Tensor.nonzero: _all_places,
    torch.where: _where,
    torch.Tensor.__getitem__: _index,
    torch.bincount: _bincount,
    torch.Tensor.bincount: _bincount,
    torch.Tensor.item: _number,
    torch.Tensor.__int__: _number,
    torch.Tensor.__index__: _number,
    torch.Tensor.__float__: _number,
    torch.Tensor.__bool__: _yes,
    torch.Tensor.is_nonzero: _yes,
}


def told(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The widest answer, or `NotImplemented` where torch can tell by itself; `NotTold` where there is none."""
    answer = _TOLD.get(function)
    return NotImplemented if answer is None else answer(*args, **kwargs)
