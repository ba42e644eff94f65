"""A workload's inputs as tensors without memory, with the values of those that steer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from tasks.blobs import find_blob, read_blob
from tasks.definition import Definition, DType, Shape
from tasks.dtypes import FP4, INTEGERS, torch_dtype
from tasks.errors import TaskError
from tasks.graph.recorder import Recorder
from tasks.graph.source import Source
from tasks.inputs_rules import draw, draw_by_type
from tasks.inputs_synthetic import stand_ins
from tasks.workload import CustomInput, SafetensorsInput, Workload

_CPU = torch.device("cpu")


def make_inputs(
    recorder: Recorder, source: Source, definition: Definition, workload: Workload,
    roots: Sequence[str | Path],
) -> list[Any]:  # fmt: skip
    """In definition order. Custom ones are made by the definition's own function, on tensors without memory."""
    made: Mapping[str, Any] = {}
    if source.custom is not None:
        axes = definition.resolve_axes(workload.axes)
        made = source.custom({**axes, **workload.scalars}, torch.device("cuda", 0))
    maker = _Maker(recorder, definition, workload, roots)
    return [_one(maker, workload, name, made) for name in definition.inputs]


def taken(recorder: Recorder, name: str, real: Any) -> Any:
    """A real input as a tensor without memory, its values kept where those of made-up ones would be."""
    if not isinstance(real, torch.Tensor):
        return real
    made = torch.empty_strided(real.size(), real.stride(), dtype=real.dtype, device="meta")
    if recorder.values.allows(made, name):
        recorder.values.put(made, real)
    return made


def _one(maker: _Maker, workload: Workload, name: str, made: Mapping[str, Any]) -> Any:
    if isinstance(workload.inputs.get(name), CustomInput):
        value = made[name]
        if isinstance(value, torch.Tensor) and not value.is_meta:
            return maker.recorder.lift(value)
        return value
    return maker.make(name)


class _Maker:
    """Random and recorded inputs: drawn where their values will be followed, and only shaped elsewhere."""

    def __init__(
        self, recorder: Recorder, definition: Definition, workload: Workload, roots: Sequence[str | Path]
    ) -> None:
        self.recorder, self.definition, self.workload, self.roots = recorder, definition, workload, roots
        self.shapes = definition.input_shapes(workload.axes)
        self._stand_ins = self._all_stand_ins()

    def make(self, name: str) -> Any:
        spec, shape = self.definition.inputs[name], self.shapes[name]
        scalars = self.workload.scalars
        if name in scalars:
            return scalars[name]
        if shape is None:
            return draw_by_type((), spec.dtype, _CPU).item()
        if spec.dtype in FP4 and self._is_random(name):
            shape = (*shape[:-1], shape[-1] // 2)  # as the official generator makes them
        dtype = torch_dtype(spec.dtype)
        tensor = torch.empty(shape, dtype=dtype, device="meta")
        if spec.dtype not in FP4 and self.recorder.values.allows(tensor, name):
            self.recorder.values.put(tensor, self._values(name, shape, spec.dtype))
        return tensor

    def _values(self, name: str, shape: Shape, dtype: DType) -> torch.Tensor:
        source = self.workload.inputs.get(name)
        if isinstance(source, SafetensorsInput) and find_blob(source.path, self.roots) is not None:
            return read_blob(source, self.roots, name, shape, torch_dtype(dtype))
        if name in self._stand_ins:
            return self._stand_ins[name]
        return draw(name, shape, dtype, _CPU, self.definition.inputs[name].description)

    def _is_random(self, name: str) -> bool:
        return not isinstance(self.workload.inputs.get(name), SafetensorsInput)

    def _all_stand_ins(self) -> dict[str, torch.Tensor]:
        """Index structures whose recordings are missing, made together so that they agree."""
        missing = [
            name for name, source in self.workload.inputs.items()
            if isinstance(source, SafetensorsInput) and name in self.definition.inputs
            and self.definition.inputs[name].dtype in (*INTEGERS, DType.BOOL)
            and find_blob(source.path, self.roots) is None
        ]  # fmt: skip
        try:
            return stand_ins(self.definition, self.workload.axes, missing)
        except TaskError:
            return {}
