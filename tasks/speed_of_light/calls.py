"""The calls that a reference makes to torch, as written, followed at a workload's sizes without memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils.flop_counter import FlopCounterMode

from tasks.definition import Definition, Shape
from tasks.dtypes import torch_dtype
from tasks.inputs_reference import Reference
from tasks.speed_of_light.widest import NotTold, told
from tasks.tensors import tensors_in

PARTS = {"__getitem__", "narrow", "select", "index_select", "gather", "embedding", "take_along_dim"}
"""Calls that read of their first operand only what they return."""
_IN_NAME_ONLY = {"__get__", "size", "dim", "numel", "stride", "is_floating_point", "__len__", "is_contiguous"}


@dataclass(slots=True)
class Call:
    """One call with tensors in it; sizes in elements."""

    name: str
    inputs: tuple[int, ...]
    """Sizes of the operands that are graph inputs as they were passed in."""
    inner: int
    """How many operands were made on the way."""
    made: int
    """Elements of what it returns."""


@dataclass(slots=True)
class Calls:
    calls: list[Call]
    written: int
    """Elements of the results that no later call takes."""
    flops: int
    """Matrix work, a multiply-add is two."""


@dataclass
class _Recorder(TorchFunctionMode):
    """Notes each outermost call; what torch calls inside is not seen."""

    inputs: tuple[torch.Tensor, ...]
    calls: list[Call] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self._inputs = {id(tensor) for tensor in self.inputs}
        self._kept: list[torch.Tensor] = []
        """Alive until the end, so that no two tensors have one id."""
        self._taken: set[int] = set()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        result = told(func, args, kwargs)
        if result is NotImplemented:
            result = func(*args, **kwargs)
        if isinstance(result, torch.Tensor) and id(result) in self._inputs:
            result = torch.ops.aten.alias.default(result)
        name = getattr(func, "__name__", "")
        if name not in _IN_NAME_ONLY or isinstance(result, torch.Tensor):
            self._note(name, tuple(tensors_in((args, kwargs))), tuple(tensors_in(result)))
        return result

    def _note(self, name: str, operands: tuple[torch.Tensor, ...], results: tuple[torch.Tensor, ...]) -> None:
        self._kept += results
        if not operands:
            return
        own = [tensor for tensor in operands if id(tensor) in self._inputs]
        self._taken |= {id(tensor) for tensor in operands}
        self.calls.append(
            Call(
                name=name,
                inputs=tuple(_size(tensor) for tensor in own),
                inner=len(operands) - len(own),
                made=sum(map(_size, results)),
            )
        )

    def written(self, results: Any) -> int:
        """Elements of those among `results` that no call has taken and that are no inputs."""
        final = {id(t): _size(t) for t in tensors_in(results)}
        return sum(size for key, size in final.items() if key not in self._taken | self._inputs)


def follow(
    definition: Definition,
    reference: Reference,
    shapes: Mapping[str, Shape | None],
    scalars: Mapping[str, int | float | bool],
) -> Calls | None:
    """What `reference` does at these sizes; `None` where it cannot be followed without values."""
    passed = [
        scalars.get(name, 1)
        if shapes[name] is None
        else _without_memory(shapes[name], torch_dtype(spec.dtype))
        for name, spec in definition.inputs.items()
    ]
    recorder = _Recorder(tuple(tensors_in(passed)))
    counter = FlopCounterMode(display=False)
    try:
        with torch.no_grad(), torch.device("meta"), counter, recorder:
            results = reference.run(*passed)
    except NotTold:
        return None
    except Exception:  # noqa: BLE001 - foreign code, on tensors that its author never had in mind
        return None
    return Calls(recorder.calls, recorder.written(results), counter.get_total_flops())


def _without_memory(shape: Shape | None, dtype: torch.dtype) -> torch.Tensor:
    assert shape is not None
    return torch.empty(shape, dtype=dtype, device="meta")


def _size(tensor: torch.Tensor) -> int:
    return math.prod(tensor.shape)
