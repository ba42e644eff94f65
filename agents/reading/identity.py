"""Whether two lists of results are the same formula's: compared in fp64 on small random numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agents.reading.perform import CannotPerform, perform
from tasks.definition import Definition

_LEAST_LITERAL = 48
"""Smaller numbers in a text are rather no sizes."""

Inputs = Mapping[str, Any]
Model = Callable[[Inputs], Sequence[Any]]
"""A formula over inputs by name; its results in the order of the definition's outputs."""


def results_on(
    definition: Definition, inputs: Inputs, wide: bool = True, literals: Mapping[int, int] | None = None
) -> list[Any] | None:
    """What the reference gives on `inputs`; None when it cannot be followed."""
    try:
        return perform(definition.reference, [inputs[name] for name in definition.inputs], wide, literals)
    except CannotPerform:
        return None


def agree(results: Sequence[Any] | None, wanted: Sequence[Any], relative: float = 1e-9) -> bool:
    """The same shapes, and no element further apart than `relative` of the largest."""
    import torch

    if results is None or len(results) != len(wanted):
        return False
    for result, want in zip(results, wanted, strict=True):
        if not isinstance(result, torch.Tensor) or result.shape != want.shape:
            return False
        scale = float(want.double().abs().max()) if want.numel() else 0.0
        if not torch.allclose(result.double(), want.double(), rtol=0.0, atol=relative * max(scale, 1e-30)):
            return False
    return True


def normal(*shape: int, seed: int, dtype: str = "float64") -> Any:
    """N(0, 1) in fp64, rounded to `dtype`; the same for the same seed."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(getattr(torch, dtype))


def shrunk(definition: Definition, constants: Mapping[str, int]) -> tuple[Definition, dict[int, int]]:
    """`definition` with constant axes made small, and what the numbers in its text stand for then.

    A number that is the size of two axes which shrink differently is left as it is.
    """
    import json

    raw = json.loads(definition.model_dump_json())
    meant: dict[int, set[int]] = {}
    for axis, entry in raw["axes"].items():
        if entry["type"] == "const":
            meant.setdefault(entry["value"], set()).add(constants.get(axis, entry["value"]))
            entry["value"] = constants.get(axis, entry["value"])
    literals = {old: new.pop() for old, new in meant.items() if old >= _LEAST_LITERAL and len(new) == 1}
    return type(definition).model_validate(raw), literals
