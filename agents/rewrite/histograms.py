"""Counts of values, whose number of bins torch reads from the values, as counts in a number of bins that is given.

A definition states the sizes of its results. Where more than `minlength` bins came out they would not be those sizes,
so that the values are taken to lie below it; one that does not is refused by the call that stands here.
"""

from typing import Any


def is_count(function: Any, kwargs: Any) -> bool:
    """A call of `bincount` that says how many bins there are at least."""
    return getattr(function, "__name__", "") == "bincount" and bool((kwargs or {}).get("minlength"))


def counted(values: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each of 0, ..., minlength - 1 occurs in `values` of one dimension, or the sums of their weights."""
    import torch

    ones = torch.ones_like(values, dtype=torch.int64) if weights is None else weights
    empty = torch.zeros(minlength, dtype=ones.dtype, device=values.device)
    return empty.scatter_add(0, values.to(torch.int64), ones)
