"""The seam of alternatives: a name, what it stands for, and how its outputs are made in the reference process."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

Tensors = tuple[torch.Tensor, ...]
Answer = Callable[[Sequence[Any]], Tensors]
"""The problem's own reference: inputs in definition order, outputs in theirs."""
Make = Callable[[Sequence[Any], Tensors, Answer], Tensors | None]
"""From inputs and expected values the alternative's outputs; None where this problem has no such alternative."""


@dataclass(frozen=True)
class Alternative:
    name: str
    meaning: str
    make: Make
