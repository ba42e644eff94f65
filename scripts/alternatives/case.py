"""What is held against a reference, and at which sizes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

Outputs = tuple[torch.Tensor, ...]
Alternative = Callable[..., Outputs]


@dataclass(frozen=True)
class Case:
    """Other ways to compute one task. Each takes the task's inputs in order and returns all its outputs."""

    small: Mapping[str, int]
    """Axes that a CPU computes in a moment; for tests."""
    measured: tuple[Mapping[str, int], ...]
    """Axes at which the tolerance is measured."""
    honest: Mapping[str, Alternative]
    """Right, in other arithmetic; `fp32` is first, the independent answer."""
    wrong: Mapping[str, Alternative]
    """What must not pass."""


def zeros_like_outputs(run: Alternative) -> Alternative:
    def zeros(*inputs: Any) -> Outputs:
        return tuple(torch.zeros_like(output) for output in run(*inputs))

    return zeros
