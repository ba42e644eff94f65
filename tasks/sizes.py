"""How many bytes a workload's inputs and outputs take, by arithmetic on its axes."""

import math
from collections.abc import Mapping

from tasks.definition import Definition, DType, Shape, TensorSpec


def input_bytes(definition: Definition, axes: Mapping[str, int]) -> int:
    """Bytes of all input tensors at `axes` (the workload's own values); Python scalars count nothing."""
    return _bytes(definition.inputs, definition.input_shapes(axes))


def output_bytes(definition: Definition, axes: Mapping[str, int]) -> int:
    """Bytes of all output tensors at `axes`."""
    return _bytes(definition.outputs, definition.output_shapes(axes))


def tensor_bytes(shape: Shape | None, dtype: DType) -> int:
    """Bytes of one tensor; a packed fp4 axis is counted as declared, in bytes."""
    return 0 if shape is None else math.prod(shape) * dtype.bytes


def gib(count: int) -> str:
    """A number of bytes for people: `24.0 GiB`, or a smaller unit where that would read 0.0."""
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if count >= 2**power / 10:
            return f"{count / 2**power:.1f} {unit}"
    return f"{count} B"


def _bytes(tensors: Mapping[str, TensorSpec], shapes: Mapping[str, Shape | None]) -> int:
    return sum(tensor_bytes(shapes[name], spec.dtype) for name, spec in tensors.items())
