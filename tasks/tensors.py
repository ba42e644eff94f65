"""Tensors among the arguments and results of a call, and how much memory there is behind one."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import torch


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """Every tensor in nested tuples, lists and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors_in(tuple(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)


def distinct_bytes(tensor: torch.Tensor) -> int:
    """Bytes of the elements that exist: expanded axes are read once."""
    sizes = zip(tensor.shape, tensor.stride(), strict=True)
    return prod(size for size, stride in sizes if stride or not size) * tensor.element_size()
