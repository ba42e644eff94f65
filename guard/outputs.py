"""A call's result as a list of tensors in the definition's order, by the official rules."""

from collections.abc import Sequence
from typing import Any

import torch


class WrongOutputs(Exception):
    """What was returned is not what the definition asks for; `part` says how: `kind`, `count`, `shape`, `dtype`."""

    def __init__(self, part: str, message: str) -> None:
        self.part = part
        super().__init__(message)


def as_tensors(
    result: Any, names: Sequence[str], dtypes: Sequence[torch.dtype], device: torch.device
) -> list[torch.Tensor]:
    """Tensor, scalar, tuple, list or dict by output name; exact types, so that nothing can be computed on reading."""
    kind = type(result)
    if kind is dict:
        missing = [name for name in names if name not in result]
        if missing:
            raise WrongOutputs("count", f"the returned dict lacks {missing}")
        values = [result[name] for name in names]
    elif kind in (tuple, list):
        values = list(result)
    else:
        values = [result]
    if len(values) != len(names):
        raise WrongOutputs("count", f"{len(values)} outputs were returned where {len(names)} are defined")
    return [
        _tensor(value, name, dtype, device) for value, name, dtype in zip(values, names, dtypes, strict=True)
    ]


def _tensor(value: Any, name: str, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    if type(value) in (int, float, bool):
        return torch.tensor(value, dtype=dtype, device=device)
    if type(value) is not torch.Tensor:
        raise WrongOutputs("kind", f"output {name!r} is a {type(value).__name__}, not a plain tensor")
    if value.layout != torch.strided:
        raise WrongOutputs("kind", f"output {name!r} is a {value.layout} tensor, not a plain one")
    # torch.compile leaves notes of its own on what it returns; nobody reads them here
    carried = sorted(attribute for attribute in value.__dict__ if not attribute.startswith("_dynamo_"))
    if carried:
        raise WrongOutputs("kind", f"output {name!r} carries attributes {carried[:3]}")
    return value.to(device) if value.device.type != device.type else value
