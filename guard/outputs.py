"""A call's result as a list of tensors in the definition's order, by the official rules.

Containers may be of any class that is a tuple, list or dict, such as named tuples, for the public evaluator takes them.
They are read as what they hold, past whatever their class defines: nothing can be computed on reading.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

_ABSENT = object()
_NUMBERS = frozenset({int, float, bool, *np.sctypeDict.values()})


class WrongOutputs(Exception):
    """What was returned is not what the definition asks for; `part` says how: `kind`, `count`, `shape`, `dtype`."""

    def __init__(self, part: str, message: str) -> None:
        self.part = part
        super().__init__(message)


def as_tensors(
    result: Any, names: Sequence[str], dtypes: Sequence[torch.dtype], device: torch.device
) -> list[torch.Tensor]:
    """Tensor, scalar, array, tuple, list or dict by output name; extra entries of a dict are left alone, as officially."""
    kind = type(result)
    if issubclass(kind, dict):
        values = [dict.get(result, name, _ABSENT) for name in names]
        missing = [name for name, value in zip(names, values, strict=True) if value is _ABSENT]
        if missing:
            raise WrongOutputs("count", f"the returned dict lacks {missing}")
    elif issubclass(kind, tuple):
        values = list(tuple.__iter__(result))
    elif issubclass(kind, list):
        values = list(list.__iter__(result))
    else:
        values = [result]
    if len(values) != len(names):
        raise WrongOutputs("count", f"{len(values)} outputs were returned where {len(names)} are defined")
    return [
        _tensor(value, name, dtype, device) for value, name, dtype in zip(values, names, dtypes, strict=True)
    ]


def _tensor(value: Any, name: str, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    if type(value) in _NUMBERS or type(value) is np.ndarray:
        return torch.tensor(value, dtype=dtype, device=device)
    if type(value) is not torch.Tensor:
        raise WrongOutputs("kind", f"output {name!r} is a {type(value).__name__}, not a plain tensor")
    if said := _not_plain(value):
        raise WrongOutputs("kind", f"output {name!r} is {said} tensor, not a plain one")
    # torch.compile leaves notes of its own on what it returns; nobody reads them here
    carried = sorted(attribute for attribute in value.__dict__ if not attribute.startswith("_dynamo_"))
    if carried:
        raise WrongOutputs("kind", f"output {name!r} carries attributes {carried[:3]}")
    return value.to(device) if value.device.type != device.type else value


def _not_plain(value: torch.Tensor) -> str:
    """What kind of tensor it is that has no numbers in memory of its own, though its class is the plain one."""
    if value.layout != torch.strided:
        return f"a {value.layout}"
    if value.is_nested:
        return "a nested"
    if value.is_meta:
        return "a meta"
    if torch._is_functional_tensor(value) or torch._C._functorch.is_functorch_wrapped_tensor(value):
        return "a wrapped"
    return ""
